import { chatCompletions } from "./chat-completions.ts";
import type { Dialect } from "./dialect.ts";
import type { DialectName } from "./dialect-name.ts";
import { messages } from "./messages.ts";
import { responses } from "./responses.ts";

/** The dialects by their names. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  "chat/completions": chatCompletions,
  messages,
  responses,
};
