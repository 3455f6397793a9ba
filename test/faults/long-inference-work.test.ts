import { describe, expect, it } from "vitest";
import { explanationOf } from "../../gateway/inference/forward/explanation.ts";
import { mergeRequest, preparePreset } from "../../gateway/inference/merge/merge.ts";
import { presetReferenceOf } from "../../gateway/inference/request/preset-reference.ts";
import { readRequestBody } from "../../gateway/inference/request/request-body.ts";
import { bodyBytes } from "../../gateway/json/body.ts";
import { nextTurn } from "../../services/platform/time/next-turn.ts";
import { hostileTexts } from "../support/hostile-json.ts";
import { blockMsMax, longestBlock } from "../support/longest-block.ts";

const mebibyte = 1_048_576;
const room = 32 * mebibyte - 1_000;
const systemPrompt = '"'.repeat(mebibyte);

const tools = Array.from({ length: 1_000 }, (_, n) => `{"type":"function","function":{"name":"f${n}"}}`).join();
const content = { slug: "a", version: 1, versionId: "id", systemPrompt };
const chat = "chat/completions";
const preset = preparePreset({ ...content, dialect: chat, configJson: `{"model":"m","tools":[${tools}]}` }, chat);

/** Everything that is done to a request with this body before it is sent. */
async function merge(bytes: Buffer): Promise<void> {
  bodyBytes(bytes, undefined);
  await nextTurn();
  const body = await readRequestBody(bytes);
  await nextTurn();
  presetReferenceOf(body);
  const outgoing = mergeRequest(body, preset, chat, { pinned: false, replaceSystemPrompt: false });
  await nextTurn();
  const provenance = outgoing.provenance();
  await nextTurn();
  explanationOf(provenance);
  await nextTurn();
  outgoing.withModel("m");
}

const list = (unit: string) => `[${unit}${`,${unit}`.repeat(room / (unit.length + 1) - 1)}]`;
const string = (unit: string) => `"${unit.repeat(room / Buffer.byteLength(unit))}"`;
const messages = (first: string) => `{"messages":[${first}]}`;
const system = (content: string) => messages(`{"role":"system","content":${content}}`);
const escapedKeys = Array.from({ length: 30 }, (_, n) => `"\\u0061${n}":0`).join();
const fields = Array.from({ length: 10_000 }, (_, n) => `"\\u006b${n}":"${"x".repeat(3_000)}"`).join();
/** Fields with long names, this many bytes in total. */
const named = (unit: string, bytes: number) =>
  Array.from({ length: Math.floor(bytes / 1_000) }, (_, n) => `"${unit.repeat(450)}${n}":0`).join();

// Created when needed: all at once would take a gigabyte.
const bodies: [string, () => string][] = [
  ["small numbers", () => messages(list("0"))],
  ["empty objects", () => messages(list("{}"))],
  ["short strings", () => messages(list('""'))],
  ["objects", () => messages(list('{"a":0}'))],
  ["nested lists", () => messages(list("[".repeat(60) + "]".repeat(60)))],
  ["unclosed lists", () => `{"a":${"[".repeat(room)}`],
  ["one number", () => `{"a":${"9".repeat(room)}}`],
  ["a string", () => messages(string("x"))],
  ["a non-ASCII string", () => messages(string("😀"))],
  ["a string of escaped quotes", () => messages(string('\\"'))],
  ["a string of escaped letters", () => messages(string("\\u00e9"))],
  ["an unclosed string", () => `{"a":"${'\\"'.repeat(room / 2)}`],
  ["white space", () => `{${" ".repeat(room)}}`],
  ["white space before the object", () => `${" ".repeat(room)}{"messages":[]}`],
  ["white space before the first message", () => messages(`${" ".repeat(room)}{"role":"system"}`)],
  ["white space before a tool", () => `{"tools":[${" ".repeat(room)}{}]}`],
  ["white space in a list", () => messages(`[0${" ".repeat(room)}]`)],
  ["letters", () => "x".repeat(room)],
  ["one repeated key", () => `{${'"a":0,'.repeat(room / 6)}"b":0}`],
  ["the maximum number of fields", () => `{${fields}}`],
  ["a long key", () => `{${string("\\n")}:0}`],
  ["long non-ASCII keys", () => `{${named("é", 9 * mebibyte)}}`],
  ["long keys that JSON pointers escape", () => `{${named("//", 9 * mebibyte)}}`],
  ["the maximum number of them", () => `{${named("//", 100_000)}}`],
  ["a long first message", () => system(string('\\"'))],
  ["a first message of small values", () => messages(`{"x":${list("0")},"role":"system","content":"a"}`)],
  ["a first message of many fields", () => messages(`{${'"a":0,'.repeat(room / 6)}"role":"system"}`)],
  ["a first message with a long key", () => messages(`{${string("\\n")}:0,"role":"system"}`)],
  ["a long role", () => messages(`{"role":${string("\\n")}}`)],
  ["a long first part", () => system(`[{"text":${string("\\n")}}]`)],
  ["a first part of small values", () => system(`[{"x":${list("[]")},"text":"a"}]`)],
  ["many parts", () => system(list('{"type":"text","text":"a"}'))],
  ["tools of small values", () => `{"tools":[{"x":${list("{}")}}]}`],
  ["tools of a long type", () => `{"tools":[{"type":${string("\\n")}}]}`],
  ["more tools than allowed", () => `{"tools":${list("{}")}}`],
  ["tools of many keys", () => `{"tools":[${`{"function":{${escapedKeys}},${escapedKeys}},`.repeat(999)}{}]}`],
  ["a long model", () => `{"model":"@preset/${"a".repeat(room)}"}`],
  ["many models", () => `{"models":${list('"a"')}}`],
];

describe("an inference request of 32 MiB", () => {
  it.each(bodies)("does not block the event loop with %s", async (_case, text) => {
    const bytes = Buffer.from(text());
    expect(await longestBlock(() => merge(bytes))).toBeLessThan(blockMsMax);
  });
});

describe("a preset of 1 MiB", () => {
  const configs = hostileTexts(mebibyte, "tools");
  it.each([
    "empty objects",
    "objects with distinct keys",
    "long numbers",
    "escaped quotes",
    "a long key",
    "a non-ASCII string",
  ])("does not block the event loop while it is prepared, with %s", async (name) => {
    const prepare = () => {
      preparePreset({ ...content, configJson: configs[name] as string, dialect: "messages" }, "responses");
    };
    expect(await longestBlock(prepare)).toBeLessThan(blockMsMax);
  });
});
