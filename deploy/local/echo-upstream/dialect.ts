/** The body of a request. Nothing is known of what its members are. */
export type RequestObject = Readonly<Record<string, unknown>>;

/** What is answered, before it has the shape of a dialect. */
export interface Echo {
  readonly id: string;
  readonly model: string;
  /** The words of the answer, each with the white space behind it. */
  readonly words: readonly string[];
  /** In seconds. */
  readonly createdAt: number;
  readonly inputTokens: number;
}

/** An event of a stream. One without a name is only data. */
export interface StreamEvent {
  readonly name?: string;
  readonly data: object | "[DONE]";
}

/** One way to ask a model and to be answered. */
export interface EchoDialect {
  /** The fields that hold prompts; all others are told as they are. */
  readonly promptFields: readonly string[];
  /** What keeps the request from being answered; undefined if nothing does. */
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

/** What the messages of one of these roles say, in order. */
export function contentsOf(messages: unknown, ...roles: readonly string[]): unknown[] {
  if (!Array.isArray(messages)) return [];
  return messages.filter(isObject).flatMap(({ role, content }) => (roles.includes(String(role)) ? [content] : []));
}

/** As most upstreams refuse a request. */
export function openAiRefusal(status: number, message: string): object {
  return { error: { message, type: "invalid_request_error", param: null, code: status } };
}
