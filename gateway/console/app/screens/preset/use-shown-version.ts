import { useRef } from "preact/hooks";
import { presetPath, type VersionContent, versionContent } from "../../api/presets.ts";
import type { One, PresetVersion, SessionWorkspace } from "../../api/types.ts";
import { useLoaded } from "../../api/use-loaded.ts";

export type ShownVersion = ReturnType<typeof useShownVersion>;

/** The version that the address names, otherwise the one that is served. */
export function useShownVersion(
  workspace: SessionWorkspace,
  slug: string,
  served: VersionContent | undefined,
  named: number | undefined,
) {
  const wanted = named ?? served?.version;
  const isServed = wanted === served?.version;
  const other = useLoaded<One<PresetVersion>>(
    served && !isServed ? presetPath(workspace, slug, `/versions/${wanted}`) : undefined,
  );
  const otherContent = other.answer && versionContent(other.answer);
  const loaded = isServed ? served : otherContent?.version === wanted ? otherContent : undefined;
  // The previous version stays while the next one is being loaded, so that nothing moves.
  const last = useRef(loaded);
  if (loaded) last.current = loaded;
  const error = loaded ? undefined : other.error;
  return {
    wanted,
    isServed,
    // If a version cannot be shown, the rest of the preset still is.
    content: last.current ?? (error && served),
    version: error ? served?.version : wanted,
    isLoading: !loaded && !error,
    error,
    reload: other.reload,
  };
}
