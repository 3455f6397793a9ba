import { Dialect } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import { namer } from "../json/enum-names.ts";

/** Named by the last part of their paths, as in the inference APIs that they come from. */
export const dialectByName = {
  "chat/completions": Dialect.CHAT_COMPLETIONS,
  messages: Dialect.MESSAGES,
  responses: Dialect.RESPONSES,
} as const;

export type DialectName = keyof typeof dialectByName;

export const dialectNames = Object.keys(dialectByName) as DialectName[];

/** Null if it is not known: the caller that created a version did not say it, or this gateway does not know it. */
export const dialectNameOf = namer(dialectByName);
