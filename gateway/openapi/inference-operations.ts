import { namingFields } from "../inference/body-schema.ts";
import { type CallName, countsTokens, dialectByCall } from "../inference/calls.ts";
import { explainHeader } from "../inference/request/explain-header.ts";
import { promptHeader } from "../inference/request/prompt-header.ts";
import { Type } from "../json/schema-builder.ts";
import { refusedInAnthropicShape, refusedWith, requestId, success, upstreamName } from "./answers.ts";
import { inEitherHeader } from "./security.ts";

const operationIds: Readonly<Record<CallName, string>> = {
  "chat/completions": "sendChatCompletionRequest",
  messages: "createMessages",
  "messages/count_tokens": "countMessagesTokens",
  responses: "createResponses",
  "responses/input_tokens": "countResponsesTokens",
};

/** A body to try the route with. */
const examples: Readonly<Record<CallName, object>> = {
  "chat/completions": { model: "@preset/support-bot", messages: [{ role: "user", content: "Hello" }] },
  messages: { model: "@preset/support-bot", max_tokens: 100, messages: [{ role: "user", content: "Hello" }] },
  "messages/count_tokens": { model: "@preset/support-bot", messages: [{ role: "user", content: "Hello" }] },
  responses: { model: "@preset/support-bot", input: "Hello" },
  "responses/input_tokens": { model: "@preset/support-bot", input: "Hello" },
};

const stream = {
  type: ["boolean", "null"],
  description: "Whether to stream the answer as events while it is generated.",
};

/** Upstreams have errors of their own, with any status and in any shape. */
const upstreamError = {
  description:
    "An upstream's error, passed on with its status and its body. If it has one of the statuses above, its body is not as described there.",
  headers: { "x-request-id": requestId, "x-setpoint-upstream": upstreamName },
  content: { "application/json": { schema: Type.Object({}, { additionalProperties: true }) } },
};

const merging =
  "Merges the preset that the request names, if any, and sends it to the first upstream that serves its model. Fields of the request override those of the preset; fields that are not listed here are sent as they are. An upstream's errors are passed on as they are.";
const counting =
  "Merges what counts of the preset that the request names, if any: its model, its system prompt and its tools, and how they are used. The rest is as for an answer. Upstreams that do not count tokens answer with an error, mostly 404.";

/** The description of the route that sends requests to an upstream. */
export function inferenceOperation(call: CallName) {
  const answer = success(
    "The upstream's answer, as it is. If a preset was used, `x-setpoint-preset` names it and its version.",
    Type.Object({}, { additionalProperties: true }),
    { "x-setpoint-upstream": upstreamName },
  );
  const dialect = dialectByCall[call];
  const refused = dialect === "messages" ? refusedInAnthropicShape : refusedWith;
  const isCount = countsTokens(call);
  const properties = isCount ? namingFields : { ...namingFields, stream };
  return {
    operationId: operationIds[call],
    summary: isCount ? `Count the tokens of a ${dialect} request` : `Send a ${dialect} request`,
    description: isCount ? counting : merging,
    tags: ["Inference"],
    security: inEitherHeader,
    headers: Type.Object({ ...promptHeader, ...explainHeader }),
    body: { type: "object", properties, additionalProperties: true, examples: [examples[call]] },
    response: {
      200: {
        ...answer,
        content: isCount ? answer.content : { ...answer.content, "text/event-stream": { schema: Type.String() } },
      },
      ...refused(400, 403, 404, 409, 413, 415, 502, 504),
      default: upstreamError,
    },
  };
}
