import { expect, it } from "vitest";
import { mergeInto, textOfParts } from "../../../test/support/merge.ts";
import { oneOf, type Random, randomFrom, randomJson, randomSpelling } from "../../../test/support/random-json.ts";
import { type DialectName, dialectNames } from "../../dialects/dialect-name.ts";

// The same rules again, on parsed objects and written for simplicity only.

type Fields = Record<string, unknown>;

interface Case {
  readonly dialect: DialectName;
  readonly request: Fields;
  readonly config: Fields;
  readonly prompt: string;
  readonly replaceSystemPrompt: boolean;
}

const groups = [
  ["max_tokens", "max_completion_tokens", "max_output_tokens"],
  ["reasoning", "reasoning_effort"],
  ["stop", "stop_sequences"],
];

/** The expected body; undefined if the request must be rejected. */
function expected({ dialect, request, config, prompt, replaceSystemPrompt }: Case): Fields | undefined {
  const out: Fields = JSON.parse(JSON.stringify(request));
  delete out.preset;
  for (const key of Object.keys(config)) if (config[key] === null) delete config[key];

  const ownModel = typeof out.model === "string" ? (out.model.split("@preset/")[0] as string) : "";
  const ownModels = (out.models ?? []) as string[];
  const theirs = { ...config };
  if (ownModel !== "") out.model = ownModel;
  else if (typeof out.model === "string") delete out.model;
  if (ownModel !== "" || ownModels.length > 0) {
    delete theirs.model;
    delete theirs.models;
  } else if (theirs.model !== undefined || theirs.models !== undefined) {
    delete out.model;
    delete out.models;
  }
  for (const key of Object.keys(theirs)) {
    if (key === "tools") continue;
    const group = groups.find((each) => each.includes(key)) ?? [key];
    const isSent = (each: string) => (request[each] ?? null) !== null && request[each] !== "auto";
    if (key !== "model" && key !== "models" && group.some(isSent)) continue;
    for (const each of group) if (request[each] !== undefined && theirs[each] === undefined) delete out[each];
    out[key] = theirs[key];
  }
  if (Array.isArray(theirs.tools)) out.tools = unite(theirs.tools, (out.tools ?? []) as Fields[]);
  if (prompt.trim() !== "") addPrompt(out, dialect, prompt, replaceSystemPrompt);
  return (out.model ?? (out.models as string[] | undefined)?.[0]) ? out : undefined;
}

function unite(theirs: readonly Fields[], own: readonly Fields[]): Fields[] {
  const nameOf = (tool: Fields) => (tool.function as Fields | undefined)?.name ?? tool.name ?? tool.type;
  const rest = [...own];
  const merged = theirs.map((tool) => {
    const index = rest.findIndex((each) => nameOf(each) === nameOf(tool));
    return index === -1 ? tool : (rest.splice(index, 1)[0] as Fields);
  });
  return [...merged, ...rest];
}

function addPrompt(out: Fields, dialect: DialectName, prompt: string, isReplaced: boolean): void {
  const joined = (own: unknown) => {
    if (own === undefined || own === null || own === "") return prompt;
    return isReplaced ? own : `${prompt}\n\n${own}`;
  };
  if (dialect === "responses") out.instructions = joined(out.instructions);
  else if (dialect === "messages") {
    if (!Array.isArray(out.system)) out.system = joined(out.system);
    else if (out.system.length === 0 || !isReplaced) out.system = [{ type: "text", text: prompt }, ...out.system];
  } else {
    const list = (out.messages ?? []) as Fields[];
    const [first, ...others] = list;
    out.messages =
      first?.role === "system" || first?.role === "developer"
        ? [{ ...first, content: joined(first.content) }, ...others]
        : [{ role: "system", content: prompt }, ...list];
  }
}

const names = ["temperature", "seed", "service_tier", "provider", "10", "é", ...groups.flat()];
const words = ["", "x", 'é"\\\n', "😀", " "];

function randomFields(random: Random, ...more: readonly string[]): Fields {
  const entries = Array.from({ length: random(8) }, () => {
    const key = oneOf(random, [...names, ...more]);
    return [key, key === "service_tier" ? oneOf(random, ["auto", "flex", null]) : randomJson(random, 2)];
  });
  return Object.fromEntries(entries);
}

function randomTools(random: Random, dialect: DialectName): Fields[] {
  const shuffled = ["a", "b", "c", "é"].filter(() => random(2) === 0);
  return shuffled.map((name) => {
    const more = { x: randomJson(random, 1) };
    if (random(3) === 0) return { type: `server_${name}`, ...more };
    if (dialect === "messages") return { name, ...more };
    return dialect === "responses"
      ? { type: "function", name, ...more }
      : { type: "function", function: { name, ...more } };
  });
}

function randomCase(random: Random): Case {
  const dialect = oneOf(random, dialectNames);
  const maybe = (fields: Fields): Fields => (random(2) === 0 ? fields : {});
  const message = () => ({ role: oneOf(random, ["system", "developer", "user"]), content: oneOf(random, words) });
  const own = {
    "chat/completions": { messages: oneOf(random, [null, [], [message()], [message(), message()]]) },
    messages: { system: oneOf<unknown>(random, [null, "", "own", [], [{ type: "text", text: "own" }]]) },
    responses: { instructions: oneOf(random, [null, "", "own"]) },
  }[dialect];
  const request = {
    ...randomFields(random, "__proto__", "constructor"),
    ...maybe({ model: oneOf(random, [null, "m", "@preset/a", "m@preset/a@7", ""]) }),
    ...maybe({ models: oneOf(random, [null, [], ["n"], ["n", "o"]]) }),
    ...maybe({ preset: oneOf(random, [null, "a"]) }),
    ...maybe({ tools: oneOf(random, [null, randomTools(random, dialect)]) }),
    ...maybe(own),
  };
  const config = {
    ...randomFields(random),
    ...maybe({ model: "p" }),
    ...maybe({ models: oneOf(random, [["q"], ["q", "r"]]) }),
    ...maybe({ tools: randomTools(random, dialect) }),
  };
  return { dialect, request, config, prompt: oneOf(random, words), replaceSystemPrompt: random(4) === 0 };
}

it("merges texts exactly as the rules merge objects, for thousands of random requests", () => {
  const random = randomFrom(7);
  let refused = 0;
  for (let n = 0; n < 6_000; n++) {
    const each = randomCase(random);
    const { dialect, config, prompt, replaceSystemPrompt } = each;
    const request = randomSpelling(random, each.request);
    const preset = { config: JSON.stringify(config), prompt };
    const wanted = expected(each);
    const what = JSON.stringify(each);
    let text: string;
    try {
      text = textOfParts(mergeInto(dialect, request, preset, { replaceSystemPrompt }).parts);
    } catch (error) {
      expect([what, String(error), wanted]).toEqual([what, expect.stringContaining("model is required"), undefined]);
      refused++;
      continue;
    }
    expect({ what, merged: JSON.parse(text) }).toEqual({ what, merged: wanted });
    expect(textOfParts(mergeInto(dialect, text, {}).parts)).toBe(text);
  }
  expect(refused).toBeGreaterThan(100);
  expect(refused).toBeLessThan(2_000);
});
