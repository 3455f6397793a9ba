import type { Content } from "../../diff/content-diff.tsx";
import { compact, membersOf, objectFrom } from "../../json/json-pieces.ts";

/** The key of the prompt among the fields; no config field has this name. */
export const promptKey = "System prompt";

export interface Conflict {
  readonly key: string;
  /** Undefined if the field was removed. */
  readonly mine: string | undefined;
  readonly theirs: string | undefined;
}

export interface Merge {
  /** Fields that only they changed; these are taken over. */
  readonly taken: readonly string[];
  /** Fields that both changed in different ways. */
  readonly conflicts: readonly Conflict[];
  /** The result, with each conflict settled for one side. */
  settle(choices: ReadonlyMap<string, "mine" | "theirs">): { readonly config: string; readonly prompt: string };
}

/** Merges two changes of one version field by field. A field that only one side changed is no conflict. */
export function merge(ancestor: Content, mine: Content, theirs: Content): Merge {
  const [before, own, other] = [ancestor, mine, theirs].map(fieldsOf) as [Fields, Fields, Fields];
  const taken: string[] = [];
  const conflicts: Conflict[] = [];
  for (const key of new Set([...own.keys(), ...other.keys(), ...before.keys()])) {
    const [was, is, becomes] = [before.get(key), own.get(key), other.get(key)];
    if (is === becomes || becomes === was) continue;
    if (is === was) taken.push(key);
    else conflicts.push({ key, mine: is, theirs: becomes });
  }
  const settle: Merge["settle"] = (choices) => {
    const merged = new Map(own);
    for (const key of [...taken, ...conflicts.map((conflict) => conflict.key)]) {
      if (!taken.includes(key) && choices.get(key) !== "theirs") continue;
      const value = other.get(key);
      if (value === undefined) merged.delete(key);
      else merged.set(key, value);
    }
    const prompt = merged.get(promptKey) ?? "";
    merged.delete(promptKey);
    return { config: objectFrom([...merged].map(([key, text]) => ({ key, text }))), prompt };
  };
  return { taken, conflicts, settle };
}

type Fields = Map<string, string>;

function fieldsOf({ config, prompt }: Content): Fields {
  const fields: Fields = new Map(membersOf(config).map(({ key, text }) => [key, compact(text)]));
  if (prompt) fields.set(promptKey, prompt);
  return fields;
}
