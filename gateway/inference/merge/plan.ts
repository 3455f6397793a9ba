import type { DialectName } from "../../dialects/dialect-name.ts";
import { textAt } from "../request/json-walk.ts";
import type { RequestBody } from "../request/request-body.ts";
import { groupOf } from "./field-groups.ts";
import { type Models, modelsOf } from "./models.ts";
import type { PreparedPreset } from "./prepared-preset.ts";
import { type PromptSplice, splicePrompt } from "./prompt.ts";
import { type MergedTools, mergeTools } from "./tools.ts";
import type { BodyChanges } from "./write-body.ts";

/** What happens to the members of a request, and to the fields of its preset. */
export interface MergePlan extends BodyChanges {
  readonly preset: PreparedPreset | undefined;
  readonly models: Models;
  /** The preset's fields that are not used, each with the request's field that displaces it. */
  readonly displaced: ReadonlyMap<string, string>;
  readonly tools: MergedTools | undefined;
  readonly prompt: PromptSplice | undefined;
}

export function planMerge(
  body: RequestBody,
  preset: PreparedPreset | undefined,
  dialect: DialectName,
  replaceSystemPrompt: boolean,
): MergePlan {
  const models = modelsOf(body, preset);
  const changes = new Map<string, readonly Buffer[] | undefined>([["preset", undefined]]);
  const added = new Map<string, readonly Buffer[]>();
  const displaced = new Map<string, string>();
  let tools: MergedTools | undefined;
  let prompt: PromptSplice | undefined;

  const reference = body.modelReference;
  if (reference?.model === "") changes.set("model", undefined);
  else if (reference?.preset) changes.set("model", [Buffer.from(JSON.stringify(reference.model))]);

  for (const { key, member, value } of preset?.fields.values() ?? []) {
    const group = groupOf(key) ?? [key];
    const winner = winnerOver(key, group, body, models);
    if (winner !== undefined) {
      displaced.set(key, winner);
      continue;
    }
    if (body.has(key)) changes.set(key, [value]);
    else added.set(key, [member]);
    // A null left beside the preset's value would contradict it.
    for (const other of group) {
      if (other !== key && body.has(other) && !preset?.fields.has(other)) changes.set(other, undefined);
    }
  }
  const own = body.sent("tools");
  if (preset && preset.tools.length > 0 && own) {
    tools = mergeTools(preset.tools, body, own);
    displaced.delete("tools");
    changes.set("tools", tools.parts);
  }
  if (preset?.prompt) {
    prompt = splicePrompt(body, dialect, preset.prompt, replaceSystemPrompt);
    if (prompt && body.has(prompt.key)) changes.set(prompt.key, prompt.value);
    else if (prompt) added.set(prompt.key, [Buffer.from(`"${prompt.key}":`), ...prompt.value]);
  }
  return { body, preset, models, changes, added, displaced, tools, prompt };
}

/** The key of the request's field that displaces this one of the preset; undefined if none does. */
function winnerOver(
  key: string,
  group: readonly string[],
  body: RequestBody,
  { areOwn, model, models }: Models,
): string | undefined {
  if (key !== "model" && key !== "models") {
    return sends(body, key) ? key : group.find((other) => sends(body, other));
  }
  if (!areOwn) return undefined;
  return model === undefined || (key === "models" && models.length > 0) ? "models" : "model";
}

/** Whether the request has a value of its own for this field. */
function sends(body: RequestBody, key: string): boolean {
  const member = body.sent(key);
  if (!member) return false;
  // Clients send "auto" if nothing was chosen.
  return key !== "service_tier" || textAt(body, member.valueStart, member.valueEnd, 64) !== "auto";
}
