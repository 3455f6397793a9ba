import { useEffect, useState } from "preact/hooks";
import { presetPath } from "../../api/presets.ts";
import { request } from "../../api/request.ts";
import type { One, SessionWorkspace, VersionDiff } from "../../api/types.ts";

/**
 * The fields that each of these versions changed, compared with the one before it, as far as they are known. They are
 * loaded one after another, because nobody waits for them. If one fails to load, the history does without it.
 */
export function useChangedFields(
  workspace: SessionWorkspace,
  slug: string,
  versions: readonly number[],
): ReadonlyMap<number, string> {
  const [known, setKnown] = useState<ReadonlyMap<number, string>>(new Map());
  const next = versions.find((version) => version > 1 && !known.has(version));
  useEffect(() => {
    if (next === undefined) return;
    const abort = new AbortController();
    request<One<VersionDiff>>(presetPath(workspace, slug, `/versions/${next - 1}/diff/${next}`), {
      signal: abort.signal,
    }).then(
      ({ json }) => setKnown((before) => new Map(before).set(next, namesOf(json.data))),
      () => {},
    );
    return () => abort.abort();
  }, [next]);
  return known;
}

function namesOf({ config, system_prompt_changed }: VersionDiff): string {
  const { added, removed, changed } = config;
  const names = [
    ...(system_prompt_changed ? ["prompt"] : []),
    ...Object.keys(changed),
    ...Object.keys(added as object).map((name) => `+ ${name}`),
    ...Object.keys(removed as object).map((name) => `− ${name}`),
  ];
  return names.join(", ") || "Nothing changed";
}
