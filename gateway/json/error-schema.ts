import { Type } from "./schema-builder.ts";

export const exampleRequestId = "0198c5a4-2c6f-7d19-8e03-b7f15a9c40d2";

/** The JSON that errors.ts writes on routes of Anthropic's API. */
export const anthropicErrorSchema = Type.Object(
  {
    type: Type.Unsafe<"error">({ type: "string", const: "error" }),
    error: Type.Object({
      type: Type.String({ description: "Anthropic's name for the status." }),
      message: Type.String({ description: "A sentence that says what to do." }),
    }),
    request_id: Type.String({ description: "Equals the header `x-request-id`. Name it when you report a fault." }),
  },
  {
    description: "The body of an error, in the shape that Anthropic's clients expect.",
    examples: [
      {
        type: "error",
        error: { type: "authentication_error", message: "Send your key in the header `Authorization: Bearer <key>`." },
        request_id: exampleRequestId,
      },
    ],
  },
);

/** The JSON that errors.ts writes. */
export const errorSchema = Type.Object(
  {
    error: Type.Object({
      code: Type.Integer({ description: "The HTTP status." }),
      message: Type.String({ description: "A sentence that says what to do." }),
      metadata: Type.Object({
        request_id: Type.String({ description: "Equals the header `x-request-id`. Name it when you report a fault." }),
        hash: Type.Optional(
          Type.String({ description: "With status 409: the hash of the key that this request created earlier." }),
        ),
        issues: Type.Optional(
          Type.Array(
            Type.Object({
              path: Type.String({ description: "Which field or parameter; empty for the whole body." }),
              message: Type.String({ description: "Which rule it breaks." }),
            }),
            { minItems: 1, description: "With status 400: everything that is wrong with the request." },
          ),
        ),
      }),
    }),
  },
  {
    description: "The body of every answer that is not a success.",
    examples: [
      {
        error: {
          code: 400,
          message: "temperature must be at most 2",
          metadata: {
            request_id: exampleRequestId,
            issues: [{ path: "temperature", message: "must be at most 2" }],
          },
        },
      },
    ],
  },
);
