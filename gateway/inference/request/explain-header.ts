import type { IncomingHttpHeaders } from "node:http";
import { invalidRequest } from "../../../services/platform/domain/domain-error.ts";
import { Type } from "../../json/schema-builder.ts";

const name = "X-Setpoint-Explain";

export const explainHeader = {
  [name]: Type.Optional(
    Type.Enum(["1"], {
      type: "string",
      description:
        "`1`: report where each field of the request came from, in the header `x-setpoint-provenance` or, for a stream, in its first comment.",
    }),
  ),
};

/** Whether the answer should report where each field of the request came from. */
export function isExplained(headers: IncomingHttpHeaders): boolean {
  const value = headers["x-setpoint-explain"];
  if (value === undefined || value === "0") return false;
  if (value === "1") return true;
  throw invalidRequest([{ path: name, message: "must be 1, or be left out" }]);
}
