import { isDeepStrictEqual } from "node:util";
import { longTextLength, memberTexts, parseStoredJsonObject } from "../../platform/json/json-text.ts";
import { nextTurn } from "../../platform/time/next-turn.ts";
import type { PresetVersion } from "./preset.ts";

/** A config field that differs; a side is undefined if it does not have the field. Values are JSON text, as stored. */
export interface ConfigDifference {
  readonly key: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

interface VersionDiff {
  readonly config: readonly ConfigDifference[];
  readonly systemPromptChanged: boolean;
}

/** Compares by value: neither the order of keys nor the spelling of a number makes a difference. */
export async function diffVersions(from: PresetVersion, to: PresetVersion): Promise<VersionDiff> {
  const before = await parseStoredJsonObject(from.configJson);
  const after = await parseStoredJsonObject(to.configJson);
  if (from.configJson.length + to.configJson.length > longTextLength) await nextTurn();
  const textsBefore = memberTexts(before);
  const textsAfter = memberTexts(after);
  const keys = new Set([...textsBefore.keys(), ...textsAfter.keys()]);
  return {
    config: [...keys]
      .filter((key) => textsBefore.get(key) !== textsAfter.get(key))
      .filter((key) => !isDeepStrictEqual(before.value[key], after.value[key]))
      .map((key) => ({ key, from: textsBefore.get(key), to: textsAfter.get(key) })),
    systemPromptChanged: from.systemPrompt !== to.systemPrompt,
  };
}
