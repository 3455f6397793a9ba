import { type EchoDialect, isObject, type RequestObject } from "./dialect.ts";

/** Longer values are truncated, because the answer is meant to be read. */
const valueLengthMax = 2_000;

/** Describes a request in lines that a person can read. */
export function requestText(dialect: EchoDialect, request: RequestObject): string {
  const { model, tools, stream: _stream, stream_options: _options, ...others } = request;
  const lines = [`model: ${String(model)}`];
  for (const [name, value] of Object.entries(others)) {
    if (!dialect.promptFields.includes(name)) lines.push(`${name}: ${cut(valueText(value))}`);
  }
  if (Array.isArray(tools) && tools.length > 0) lines.push(`tools: ${cut(tools.map(toolName).join(", "))}`);
  for (const prompt of dialect.systemPrompts(request)) lines.push(`system: ${cut(contentText(prompt))}`);
  lines.push(`user: ${cut(contentText(dialect.lastUserContent(request)))}`);
  return lines.join("\n");
}

function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A function by its name, in any dialect; a server-side tool by its type. */
function toolName(tool: unknown): string {
  if (!isObject(tool)) return valueText(tool);
  const { name } = isObject(tool.function) ? tool.function : tool;
  return String(name ?? tool.type);
}

/** A text, or the texts of a list of parts; a part that is not text is shown by its type. */
function contentText(content: unknown): string {
  if (content === undefined || content === null) return "";
  if (!Array.isArray(content)) return valueText(content);
  return content
    .map((part) => {
      if (!isObject(part)) return valueText(part);
      return typeof part.text === "string" ? part.text : `[${String(part.type)}]`;
    })
    .join("\n");
}

function cut(text: string): string {
  if (text.length <= valueLengthMax) return text;
  // The cut may fall between the halves of a surrogate pair.
  return `${text.slice(0, valueLengthMax).toWellFormed()}… (${text.length} characters)`;
}
