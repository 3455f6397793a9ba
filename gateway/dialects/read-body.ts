import { type FieldViolation, invalidRequest } from "../../services/platform/domain/domain-error.ts";
import { sizeViolations, surrogateViolations } from "../../services/platform/domain/text-violations.ts";
import {
  ambiguities,
  type JsonObject,
  parseJsonObject,
  parseLongJsonObject,
  selectMembers,
} from "../../services/platform/json/json-text.ts";
import type { Dialect } from "./dialect.ts";
import { joinTexts } from "./system-prompt.ts";

/** What a preset version is made of. */
interface VersionContent {
  /** The kept fields, as they were sent. */
  readonly configJson: string;
  readonly systemPrompt: string | undefined;
}

/** Reads the parts of a request body that a preset keeps. Throws an invalid request that names every violation. */
export function readBody(dialect: Dialect, text: string): VersionContent {
  return contentOf(dialect, parseJsonObject(text));
}

/** The same for a long body, in several turns of the event loop. */
export async function readLongBody(dialect: Dialect, text: string): Promise<VersionContent> {
  return contentOf(dialect, await parseLongJsonObject(text));
}

function contentOf(dialect: Dialect, body: JsonObject): VersionContent {
  const { json: configJson, kept } = selectMembers(body, dialect.keeps);
  const prompt = dialect.findPrompt(body.value);
  const systemPrompt = joinTexts(prompt.texts);
  const tooLarge = sizeViolations("config", configJson);
  const violations = [
    ...dialect.findViolations(body.value),
    // A config that is too large is not checked for other faults.
    ...(tooLarge.length > 0 ? tooLarge : ambiguities(body, kept, (key) => dialect.keptKeys.has(key))),
    ...prompt.violations,
    ...surrogateViolations("system_prompt", systemPrompt ?? ""),
    ...sizeViolations("system_prompt", systemPrompt ?? ""),
  ];
  if (violations.length > 0) throw invalidRequest(firstOfEachPath(violations));
  return { configJson, systemPrompt };
}

/** The schema and the rule for prompts may object to the same value; reporting it once is enough. */
function firstOfEachPath(violations: readonly FieldViolation[]): FieldViolation[] {
  const first = new Map<string, FieldViolation>();
  for (const violation of violations) {
    if (!first.has(violation.path)) first.set(violation.path, violation);
  }
  return [...first.values()];
}
