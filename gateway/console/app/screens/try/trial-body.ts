import type { VersionContent } from "../../api/presets.ts";
import { membersOf } from "../../json/json-pieces.ts";

/** Models that speak messages want to be told how much they may say. */
const tokensMax = 1_024;

/** A request with one message, in the dialect of the version. */
export function trialBody({ dialect, config }: VersionContent, message: string): Record<string, unknown> {
  if (dialect === "responses") return { input: message };
  const messages = [{ role: "user", content: message }];
  if (dialect !== "messages") return { messages };
  const hasMax = membersOf(config).some(({ key }) => key === "max_tokens");
  return hasMax ? { messages } : { messages, max_tokens: tokensMax };
}
