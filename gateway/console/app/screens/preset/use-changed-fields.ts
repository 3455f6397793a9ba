import { useEffect, useState } from "preact/hooks";
import { presetPath } from "../../api/presets.ts";
import { request } from "../../api/request.ts";
import { hasEnded, session } from "../../api/session.ts";
import type { One, SessionWorkspace, VersionDiff } from "../../api/types.ts";

/** Version numbers with what each changed; undefined if that could not be loaded. */
export type ChangedFields = ReadonlyMap<number, string | undefined>;

/** After a refusal because of too many requests, or of an overload, another one at once would be refused, too. */
const pauseMs = 1_000;

/**
 * The fields that each of these versions changed, compared with the one before it, as far as they are known. They are
 * loaded one after another, because nobody waits for them. If one fails to load, the history does without it.
 */
export function useChangedFields(
  workspace: SessionWorkspace,
  slug: string,
  versions: readonly number[],
): ChangedFields {
  const [known, setKnown] = useState<ChangedFields>(new Map());
  const next = versions.find((version) => version > 1 && !known.has(version));
  // In a new session, what failed because the last one had ended is loaded again.
  useEffect(() => {
    if (next === undefined) return;
    const abort = new AbortController();
    let pause: ReturnType<typeof setTimeout> | undefined;
    const know = (names: string | undefined): void => setKnown((before) => new Map(before).set(next, names));
    request<One<VersionDiff>>(presetPath(workspace, slug, `/versions/${next - 1}/diff/${next}`), {
      signal: abort.signal,
    }).then(
      ({ json }) => know(namesOf(json.data)),
      () => {
        if (!abort.signal.aborted && !hasEnded.value) pause = setTimeout(() => know(undefined), pauseMs);
      },
    );
    return () => {
      abort.abort();
      clearTimeout(pause);
    };
  }, [next, session.value?.expires_at]);
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
