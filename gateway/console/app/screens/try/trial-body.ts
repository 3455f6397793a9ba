import type { VersionContent } from "../../api/presets.ts";
import { membersOf, objectFrom } from "../../json/json-pieces.ts";

/** The messages dialect requires a maximum. */
const tokensMax = 1_024;

/** A request with one message, in the dialect of the version. */
export function trialBody({ dialect, config }: VersionContent, message: string): Record<string, unknown> {
  if (dialect === "responses") return { input: message };
  const messages = [{ role: "user", content: message }];
  if (dialect !== "messages") return { messages };
  const hasMax = membersOf(config).some(({ key }) => key === "max_tokens");
  return hasMax ? { messages } : { messages, max_tokens: tokensMax };
}

/** The same request with the content itself in place of a preset: a draft has no version that could be named. */
export function draftBody(content: VersionContent, message: string): string {
  const { dialect, prompt } = content;
  const body: Record<string, unknown> = { ...trialBody(content, message), stream: true };
  if (prompt !== null) {
    if (dialect === "responses") body.instructions = prompt;
    else if (dialect === "messages") body.system = prompt;
    else body.messages = [{ role: "system", content: prompt }, ...(body.messages as object[])];
  }
  const settings = membersOf(content.config).filter(({ key }) => !Object.hasOwn(body, key));
  const members = Object.entries(body).map(([key, value]) => ({ key, text: JSON.stringify(value) }));
  return objectFrom([...settings, ...members]);
}
