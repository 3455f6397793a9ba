import { type FieldViolation, invalidRequest } from "../../services/platform/domain/domain-error.ts";
import { contentBytesMax } from "../../services/platform/domain/limits.ts";
import { cutMembers, parseJsonObject } from "../../services/platform/json/json-text.ts";
import { surrogateViolations } from "../json/violations.ts";
import type { Dialect } from "./dialect.ts";
import { joinTexts } from "./system-prompt.ts";

/** What a preset version is made of. */
interface VersionContent {
  /** The kept fields, as they were sent. */
  readonly configJson: string;
  readonly systemPrompt: string | undefined;
}

/** Takes from the text of a request body what a preset keeps. Throws an invalid request that names every violation. */
export function readBody(dialect: Dialect, text: string): VersionContent {
  const body = parseJsonObject(text);
  const config = cutMembers(body, dialect.keeps);
  const prompt = dialect.findPrompt(body.value);
  const systemPrompt = joinTexts(prompt.texts);
  const violations = [
    ...dialect.findViolations(body.value),
    ...config.violations,
    ...prompt.violations,
    ...sizeViolations("config", config.json),
    ...surrogateViolations("system_prompt", systemPrompt ?? ""),
    ...sizeViolations("system_prompt", systemPrompt ?? ""),
  ];
  if (violations.length > 0) throw invalidRequest(firstOfEachPath(violations));
  return { configJson: config.json, systemPrompt };
}

function sizeViolations(path: string, stored: string): FieldViolation[] {
  const bytes = Buffer.byteLength(stored);
  if (bytes <= contentBytesMax) return [];
  return [{ path, message: `must be at most ${contentBytesMax} bytes of UTF-8 in all, and is ${bytes}` }];
}

/** The schema and the rule for prompts may object to the same value; once is enough. */
function firstOfEachPath(violations: readonly FieldViolation[]): FieldViolation[] {
  const first = new Map<string, FieldViolation>();
  for (const violation of violations) {
    if (!first.has(violation.path)) first.set(violation.path, violation);
  }
  return [...first.values()];
}
