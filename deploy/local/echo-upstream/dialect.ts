/** The body of a request. Nothing is known about the types of its members. */
export type RequestObject = Readonly<Record<string, unknown>>;

/** The content of an answer, before it gets the form of a dialect. */
export interface Echo {
  readonly id: string;
  readonly model: string;
  /** The words of the answer, each with the white space after it. */
  readonly words: readonly string[];
  /** In seconds. */
  readonly createdAt: number;
  readonly inputTokens: number;
}

/** An event of a stream. One without a name consists of data only. */
export interface StreamEvent {
  readonly name?: string;
  readonly data: object | "[DONE]";
}

/** One API in which models are called. */
export interface EchoDialect {
  /** The fields that hold prompts; all others are echoed as they are. */
  readonly promptFields: readonly string[];
  /** Why the request cannot be answered; undefined if it can. */
  lookForFault(request: RequestObject): string | undefined;
  systemPrompts(request: RequestObject): readonly unknown[];
  lastUserContent(request: RequestObject): unknown;
  whole(echo: Echo, request: RequestObject): object;
  events(echo: Echo, request: RequestObject): Iterable<StreamEvent>;
  refusal(status: number, message: string): object;
}

export function textOf({ words }: Echo): string {
  return words.join("");
}

export function isObject(value: unknown): value is RequestObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The contents of the messages with one of these roles, in order. */
export function contentsOf(messages: unknown, ...roles: readonly string[]): unknown[] {
  if (!Array.isArray(messages)) return [];
  return messages.filter(isObject).flatMap(({ role, content }) => (roles.includes(String(role)) ? [content] : []));
}

/** An error in the form that most upstreams use. */
export function openAiRefusal(status: number, message: string): object {
  return { error: { message, type: "invalid_request_error", param: null, code: status } };
}
