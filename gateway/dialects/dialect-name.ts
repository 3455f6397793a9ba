import { Dialect } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";

/** Named by the last part of their paths, as in the inference APIs that they come from. */
export const dialectNames = ["chat/completions", "messages", "responses"] as const;
export type DialectName = (typeof dialectNames)[number];

export const dialectByName = {
  "chat/completions": Dialect.CHAT_COMPLETIONS,
  messages: Dialect.MESSAGES,
  responses: Dialect.RESPONSES,
} as const satisfies Record<DialectName, Dialect>;

const namesByDialect = new Map<Dialect, DialectName>(dialectNames.map((name) => [dialectByName[name], name]));

/** Null if it is not known: the caller that created a version did not say it, or this gateway does not know it. */
export function dialectNameOf(dialect: Dialect): DialectName | null {
  return namesByDialect.get(dialect) ?? null;
}
