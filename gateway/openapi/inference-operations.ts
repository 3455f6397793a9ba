import type { DialectName } from "../dialects/dialect-name.ts";
import { namingFields } from "../inference/body-schema.ts";
import { explainHeader } from "../inference/request/explain-header.ts";
import { promptHeader } from "../inference/request/prompt-header.ts";
import { Type } from "../json/schema-builder.ts";
import { refusedInAnthropicShape, refusedWith, requestId, success, upstreamName } from "./answers.ts";
import { inEitherHeader } from "./security.ts";

const operationIds: Readonly<Record<DialectName, string>> = {
  "chat/completions": "sendChatCompletionRequest",
  messages: "createMessages",
  responses: "createResponses",
};

/** A body to try the route with. */
const examples: Readonly<Record<DialectName, object>> = {
  "chat/completions": { model: "@preset/support-bot", messages: [{ role: "user", content: "Hello" }] },
  messages: { model: "@preset/support-bot", max_tokens: 100, messages: [{ role: "user", content: "Hello" }] },
  responses: { model: "@preset/support-bot", input: "Hello" },
};

const properties = {
  ...namingFields,
  stream: { type: ["boolean", "null"], description: "Whether to stream the answer as events while it is generated." },
};

/** Upstreams have errors of their own, with any status and in any shape. */
const upstreamError = {
  description:
    "An upstream's error, passed on with its status and its body. If it has one of the statuses above, its body is not as described there.",
  headers: { "x-request-id": requestId, "x-setpoint-upstream": upstreamName },
  content: { "application/json": { schema: Type.Object({}, { additionalProperties: true }) } },
};

/** The description of the route that sends requests of a dialect to an upstream. */
export function inferenceOperation(dialect: DialectName) {
  const answer = success(
    "The upstream's answer, as it is. If a preset was used, `x-setpoint-preset` names it and its version.",
    Type.Object({}, { additionalProperties: true }),
    { "x-setpoint-upstream": upstreamName },
  );
  const refused = dialect === "messages" ? refusedInAnthropicShape : refusedWith;
  return {
    operationId: operationIds[dialect],
    summary: `Send a ${dialect} request`,
    description:
      "Merges the preset that the request names, if any, and sends it to the first upstream that serves its model. Fields of the request override those of the preset; fields that are not listed here are sent as they are. An upstream's errors are passed on as they are.",
    tags: ["Inference"],
    security: inEitherHeader,
    headers: Type.Object({ ...promptHeader, ...explainHeader }),
    body: { type: "object", properties, additionalProperties: true, examples: [examples[dialect]] },
    response: {
      200: {
        ...answer,
        content: { ...answer.content, "text/event-stream": { schema: Type.String() } },
      },
      ...refused(400, 403, 404, 409, 413, 415, 502, 504),
      default: upstreamError,
    },
  };
}
