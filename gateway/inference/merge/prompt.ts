import { invalidRequest } from "../../../services/platform/domain/domain-error.ts";
import { openBrace, openBracket, quote } from "../../../services/platform/json/json-outline.ts";
import type { DialectName } from "../../dialects/dialect-name.ts";
import { elementsAt, firstElementAt, isNullAt, type Place, textAt, valuesAt } from "../request/json-walk.ts";
import type { BodyMember, RequestBody } from "../request/request-body.ts";
import { type Edit, spliced } from "./splice.ts";

/** Where the system prompt of a preset goes in a request. */
export interface PromptSplice {
  /** The member of the outgoing body that contains it, with its new value. */
  readonly key: string;
  readonly value: readonly Buffer[];
  /** The JSON pointer of the prompt. */
  readonly pointer: string;
  /** `merged` where the request's own prompt follows it. */
  readonly from: "preset" | "merged";
}

/**
 * Puts a preset's prompt, which is JSON text without its quotes, before the request's own. Undefined if the request has
 * a prompt of its own that is to be used alone.
 */
export function splicePrompt(
  body: RequestBody,
  dialect: DialectName,
  prompt: Buffer,
  keepsOwnPromptOnly: boolean,
): PromptSplice | undefined {
  const key = promptFields[dialect];
  const member = body.sent(key);
  const splice = { key, pointer: dialect === "chat/completions" ? "/messages/0" : `/${key}` };
  if (!member) {
    if (keepsOwnPromptOnly && dialect === "responses" && isInInput(body)) return undefined;
    const [before, after] = wrapped[dialect];
    return { ...splice, value: [before, prompt, after], from: "preset" };
  }
  const { edit, hasOwn } =
    dialect === "chat/completions" ? inMessages(body, member, prompt) : inField(body, member, prompt, dialect);
  if (hasOwn && keepsOwnPromptOnly) return undefined;
  const value = spliced(body.bytes, [edit], member.valueStart, member.valueEnd);
  return { ...splice, value, from: hasOwn ? "merged" : "preset" };
}

/** The member of a body that holds the system prompt. */
const promptFields = {
  "chat/completions": "messages",
  messages: "system",
  responses: "instructions",
} as const satisfies Record<DialectName, string>;

const asText = [Buffer.from('"'), Buffer.from('"')] as const;
const asPart = [Buffer.from('{"type":"text","text":"'), Buffer.from('"}')] as const;
const asMessage = [Buffer.from('{"role":"system","content":"'), Buffer.from('"}')] as const;
const asContent = [Buffer.from('"content":"'), Buffer.from('",')] as const;
const asMessages = [Buffer.from('[{"role":"system","content":"'), Buffer.from('"}]')] as const;
const comma = Buffer.from(",");
/** A blank line, as JSON writes it. */
const gap = Buffer.from("\\n\\n");

/** How a prompt is written into a body that has no such member. */
const wrapped = { "chat/completions": asMessages, messages: asText, responses: asText } as const;

/** How a prompt is inserted into a body, and whether that has one of its own. */
interface Insertion {
  readonly edit: Edit;
  readonly hasOwn: boolean;
}

function inMessages(body: RequestBody, messages: BodyMember, prompt: Buffer): Insertion {
  if (body.bytes[messages.valueStart] !== openBracket) throw mustBe("messages", "a list");
  const { first, isPrompt, content } = firstMessage(body, messages);
  if (first === undefined || !isPrompt) {
    return { edit: inFront(messages.valueStart + 1, prompt, asMessage, first !== undefined), hasOwn: false };
  }
  if (!content) return { edit: editAt(first + 1, asContent[0], prompt, asContent[1]), hasOwn: false };
  return inContent(body, content, prompt);
}

/** Where the first of a list of messages begins, whether it is a system prompt, and its content. */
function firstMessage(body: RequestBody, { valueStart }: BodyMember) {
  const first = firstElementAt(body, valueStart);
  const isObject = first !== undefined && body.bytes[first] === openBrace;
  const { role, content } = isObject ? valuesAt(body, first, ["role", "content"]) : {};
  const name = role && textAt(body, role.start, role.end, 64);
  return { first, isPrompt: name === "system" || name === "developer", content };
}

/** In responses, a system prompt may also be the first item of the input. */
function isInInput(body: RequestBody): boolean {
  const input = body.sent("input");
  return input !== undefined && body.bytes[input.valueStart] === openBracket && firstMessage(body, input).isPrompt;
}

/** In `system` or `instructions`. */
function inField(
  body: RequestBody,
  { key, valueStart, valueEnd }: BodyMember,
  prompt: Buffer,
  dialect: DialectName,
): Insertion {
  const first = body.bytes[valueStart];
  if (first === quote) return inText({ start: valueStart, end: valueEnd }, prompt);
  if (dialect === "responses") throw mustBe(key, "a string");
  if (first !== openBracket) throw mustBe(key, "a string or a list");
  // The blocks of a list stay as they are, each with its `cache_control`.
  const hasOwn = firstElementAt(body, valueStart) !== undefined;
  return { edit: inFront(valueStart + 1, prompt, asPart, hasOwn), hasOwn };
}

/** In the content of the first message: a string, a list of parts, or null. */
function inContent(body: RequestBody, content: Place, prompt: Buffer): Insertion {
  const { bytes } = body;
  const first = bytes[content.start];
  if (first === quote) return inText(content, prompt);
  if (isNullAt(body, content.start)) {
    return { edit: { from: content.start, to: content.end, parts: [asText[0], prompt, asText[1]] }, hasOwn: false };
  }
  if (first !== openBracket) throw mustBe("messages[0].content", "a string or a list");
  const [part, ...others] = elementsAt(body, content.start, 2);
  const { type, text } = part && bytes[part.start] === openBrace ? valuesAt(body, part.start, ["type", "text"]) : {};
  const isText = text && bytes[text.start] === quote && (!type || isTextType(textAt(body, type.start, type.end, 64)));
  if (isText) {
    const { edit, hasOwn } = inText(text, prompt);
    return { edit, hasOwn: hasOwn || others.length > 0 };
  }
  const hasOwn = part !== undefined;
  return { edit: inFront(content.start + 1, prompt, asPart, hasOwn), hasOwn };
}

function isTextType(type: string | undefined): boolean {
  return type === "text" || type === "input_text";
}

/** Before a text. An empty one gets no blank line before it. */
function inText({ start, end }: Place, prompt: Buffer): Insertion {
  const hasOwn = end - start > 2;
  return { edit: hasOwn ? editAt(start + 1, prompt, gap) : editAt(start + 1, prompt), hasOwn };
}

/** As a list element, before the others. */
function inFront(at: number, prompt: Buffer, [before, after]: readonly [Buffer, Buffer], isFollowed: boolean): Edit {
  return isFollowed ? editAt(at, before, prompt, after, comma) : editAt(at, before, prompt, after);
}

function editAt(at: number, ...parts: readonly Buffer[]): Edit {
  return { from: at, to: at, parts };
}

function mustBe(path: string, what: string): Error {
  return invalidRequest([
    { path, message: `must be ${what}, so that the system prompt of the preset can stand ahead of it` },
  ]);
}
