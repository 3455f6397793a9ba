import type { IncomingHttpHeaders } from "node:http";
import { invalidRequest } from "../../../services/platform/domain/domain-error.ts";
import { Type } from "../../json/schema-builder.ts";

const name = "X-Setpoint-System-Prompt";

export const promptHeader = {
  [name]: Type.Optional(
    Type.Enum(["replace"], {
      type: "string",
      description:
        "`replace`: a request's own system prompt is used alone. Without this header it follows that of the preset.",
    }),
  ),
};

/** Whether the request's own system prompt, if it has one, replaces that of the preset. */
export function replacesSystemPrompt(headers: IncomingHttpHeaders): boolean {
  const value = headers["x-setpoint-system-prompt"];
  if (value === undefined) return false;
  if (value === "replace") return true;
  throw invalidRequest([{ path: name, message: "must be replace, or be left out" }]);
}
