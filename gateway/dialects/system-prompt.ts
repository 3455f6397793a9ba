import { type FieldViolation, violationsMax } from "../../services/platform/domain/domain-error.ts";
import { fieldPath } from "../../services/platform/json/field-path.ts";

/** The texts of a body that make up its system prompt, in order, and the parts that should be text but are not. */
export interface PromptTexts {
  readonly texts: readonly string[];
  readonly violations: readonly FieldViolation[];
}

const promptRoles: ReadonlySet<unknown> = new Set(["system", "developer"]);

/** The responses dialect calls them `input_text` and `output_text`. A block of `system` may have no type. */
const textPartTypes: ReadonlySet<unknown> = new Set(["text", "input_text", "output_text", undefined]);

/** The texts of all system and developer messages. Whether `messages` is a list of objects is checked by the schema. */
export function promptOfMessages(messages: unknown, path: string): PromptTexts {
  if (!Array.isArray(messages)) return { texts: [], violations: [] };
  const contents = messages.flatMap((message: unknown, index) =>
    isObject(message) && promptRoles.has(message.role)
      ? [promptOfContent(message.content, `${path}[${index}].content`)]
      : [],
  );
  return {
    texts: contents.flatMap((content) => content.texts),
    violations: contents.flatMap((content) => content.violations).slice(0, violationsMax),
  };
}

/** The texts of a content: a string, a list of text parts, or nothing. */
export function promptOfContent(content: unknown, path: string): PromptTexts {
  if (content === undefined || content === null) return { texts: [], violations: [] };
  if (typeof content === "string") return { texts: [content], violations: [] };
  if (!Array.isArray(content)) return { texts: [], violations: [{ path, message: "must be a string or a list" }] };
  const texts: string[] = [];
  const violations: FieldViolation[] = [];
  for (const [index, part] of content.entries()) {
    if (isTextPart(part)) texts.push(part.text);
    else if (violations.length < violationsMax) {
      violations.push({
        path: fieldPath(path, index),
        message: "must be a text part: a system prompt holds only text",
      });
    }
  }
  return { texts, violations };
}

/** One prompt from its texts, a blank line between them; undefined if there is no text at all. */
export function joinTexts(texts: readonly string[]): string | undefined {
  return texts.filter((text) => text !== "").join("\n\n") || undefined;
}

function isTextPart(part: unknown): part is { readonly text: string } {
  return isObject(part) && typeof part.text === "string" && textPartTypes.has(part.type);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
