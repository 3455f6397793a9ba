import {
  contentsOf,
  type Echo,
  type EchoDialect,
  openAiRefusal,
  type RequestObject,
  type StreamEvent,
  textOf,
} from "./dialect.ts";

const systemRoles = ["system", "developer"];

export const responses: EchoDialect = {
  promptFields: ["input", "instructions"],

  lookForFault: ({ input }) =>
    (typeof input === "string" ? input !== "" : Array.isArray(input) && input.length > 0)
      ? undefined
      : "input must be a text, or a list with at least one item",

  systemPrompts: ({ input, instructions }) => [
    ...(instructions === undefined || instructions === null ? [] : [instructions]),
    ...contentsOf(input, ...systemRoles),
  ],

  lastUserContent: ({ input }) => (typeof input === "string" ? input : contentsOf(input, "user").at(-1)),

  whole: (echo, request) => completed(echo, request),

  *events(echo, request): Generator<StreamEvent> {
    let sequence_number = 0;
    const event = (name: string, members: object): StreamEvent => ({
      name,
      data: { type: name, sequence_number: sequence_number++, ...members },
    });
    const text = textOf(echo);
    const inItem = { item_id: itemId(echo), output_index: 0, content_index: 0 };
    const begun = begin(echo, request);
    yield event("response.created", { response: begun });
    yield event("response.in_progress", { response: begun });
    yield event("response.output_item.added", {
      output_index: 0,
      item: { ...item(echo), status: "in_progress", content: [] },
    });
    yield event("response.content_part.added", { ...inItem, part: part("") });
    for (const delta of echo.words) yield event("response.output_text.delta", { ...inItem, delta, logprobs: [] });
    yield event("response.output_text.done", { ...inItem, text, logprobs: [] });
    yield event("response.content_part.done", { ...inItem, part: part(text) });
    yield event("response.output_item.done", { output_index: 0, item: item(echo) });
    yield event("response.completed", { response: completed(echo, request) });
  },

  refusal: openAiRefusal,
};

/** A response before it has any content. Its settings are described by the text of the answer. */
function begin({ id, model, createdAt }: Echo, { instructions }: RequestObject) {
  return {
    id: `resp_${id}`,
    object: "response",
    created_at: createdAt,
    completed_at: null as number | null,
    status: "in_progress",
    error: null,
    incomplete_details: null,
    instructions: typeof instructions === "string" ? instructions : null,
    metadata: {},
    model,
    output: [] as object[],
    parallel_tool_calls: true,
    temperature: null,
    top_p: null,
    frequency_penalty: null,
    presence_penalty: null,
    tool_choice: "auto",
    tools: [],
    usage: null as object | null,
  };
}

function completed(echo: Echo, request: RequestObject) {
  const { inputTokens, words, createdAt } = echo;
  return {
    ...begin(echo, request),
    completed_at: createdAt,
    status: "completed",
    output: [item(echo)],
    usage: {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: words.length,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: inputTokens + words.length,
    },
  };
}

function item(echo: Echo) {
  return {
    id: itemId(echo),
    type: "message",
    status: "completed",
    role: "assistant",
    content: [part(textOf(echo))],
  };
}

function part(text: string) {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

function itemId({ id }: Echo): string {
  return `msg_${id}`;
}
