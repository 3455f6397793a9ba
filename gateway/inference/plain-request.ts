import { invalidRequest } from "../../services/platform/domain/domain-error.ts";
import type { Outgoing } from "./forward/forward.ts";

/** A request that names no preset, as it came. */
export function plainRequest(bytes: Buffer): Outgoing {
  let body: Record<string, unknown>;
  try {
    body = JSON.parse(bytes.toString());
  } catch {
    throw invalidRequest([{ path: "", message: "is not JSON" }]);
  }
  const models = Array.isArray(body.models) ? (body.models as string[]) : [];
  const model = (body.model as string | undefined) ?? models[0];
  if (!model) throw invalidRequest([{ path: "model", message: "is required" }]);
  return {
    parts: [bytes],
    byteLength: bytes.length,
    model,
    models,
    isStreamed: body.stream === true,
    withModel: (name) => {
      const { models: _, ...rest } = body;
      return [Buffer.from(JSON.stringify({ ...rest, model: name }))];
    },
  };
}
