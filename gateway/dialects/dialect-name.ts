import { Dialect } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";

/** By the last part of their paths, which is that of the inference APIs they come from. */
export const dialectNames = ["chat/completions", "messages", "responses"] as const;
export type DialectName = (typeof dialectNames)[number];

export const dialectByName = {
  "chat/completions": Dialect.CHAT_COMPLETIONS,
  messages: Dialect.MESSAGES,
  responses: Dialect.RESPONSES,
} as const satisfies Record<DialectName, Dialect>;

const namesByDialect = new Map<Dialect, DialectName>(dialectNames.map((name) => [dialectByName[name], name]));

/** Null where it is not known: to whoever made a version, or to this gateway. */
export function dialectNameOf(dialect: Dialect): DialectName | null {
  return namesByDialect.get(dialect) ?? null;
}
