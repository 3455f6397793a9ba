import type { Content } from "../../diff/content-diff.tsx";
import { compact, membersOf, objectFrom } from "../../json/json-pieces.ts";

/** The key of the prompt among the fields; no config field has this name. */
export const promptKey = "System prompt";

interface Conflict {
  readonly key: string;
  /** Undefined if the field was removed. */
  readonly mine: string | undefined;
  readonly theirs: string | undefined;
}

export interface Merge {
  /** Fields that only they changed; these are taken over. */
  readonly taken: readonly string[];
  /** The prompt, if both changed it in different lines and both changes are kept. */
  readonly mergedPrompt: string | undefined;
  /** Fields that both changed in different ways. */
  readonly conflicts: readonly Conflict[];
  /** The result, with each conflict settled for one side. */
  settle(choices: ReadonlyMap<string, "mine" | "theirs">): { readonly config: string; readonly prompt: string };
}

/** Merges two changes of one text; undefined if it cannot. */
type MergeTexts = (ancestor: string, mine: string, theirs: string) => string | undefined;

/**
 * Merges two changes of one version field by field. A field that only one side changed is no conflict, and neither is a
 * prompt whose changes can be merged.
 */
export function merge(ancestor: Content, mine: Content, theirs: Content, mergeTexts?: MergeTexts): Merge {
  const [before, own, other] = [ancestor, mine, theirs].map(fieldsOf) as [Fields, Fields, Fields];
  const taken: string[] = [];
  const conflicts: Conflict[] = [];
  let mergedPrompt: string | undefined;
  for (const key of new Set([...own.keys(), ...other.keys(), ...before.keys()])) {
    const [was, is, becomes] = [before.get(key), own.get(key), other.get(key)];
    if (is === becomes || becomes === was) continue;
    if (is === was) {
      taken.push(key);
      continue;
    }
    const merged = key === promptKey && was && is && becomes ? mergeTexts?.(was, is, becomes) : undefined;
    if (merged === undefined) conflicts.push({ key, mine: is, theirs: becomes });
    else mergedPrompt = merged;
  }
  const settle: Merge["settle"] = (choices) => {
    const merged = new Map(own);
    for (const key of [...taken, ...conflicts.map((conflict) => conflict.key)]) {
      if (!taken.includes(key) && choices.get(key) !== "theirs") continue;
      const value = other.get(key);
      if (value === undefined) merged.delete(key);
      else merged.set(key, value);
    }
    const prompt = mergedPrompt ?? merged.get(promptKey) ?? "";
    merged.delete(promptKey);
    return { config: objectFrom([...merged].map(([key, text]) => ({ key, text }))), prompt };
  };
  return { taken, mergedPrompt, conflicts, settle };
}

type Fields = Map<string, string>;

function fieldsOf({ config, prompt }: Content): Fields {
  const fields: Fields = new Map(membersOf(config).map(({ key, text }) => [key, compact(text)]));
  if (prompt) fields.set(promptKey, prompt);
  return fields;
}
