import { useEffect, useRef } from "preact/hooks";
import { presetPath } from "../../api/presets.ts";
import type { ListPage, PresetChange, SessionWorkspace } from "../../api/types.ts";
import { useLoaded } from "../../api/use-loaded.ts";

/**
 * The last changes of a preset, and the revision that it has by them. The log is small, so it is what is asked again and
 * again; `changed` is called where a colleague, or Undo after one has been elsewhere, has changed the preset since.
 */
export function usePresetChanges(workspace: SessionWorkspace, slug: string, limit: number, changed: () => void) {
  const loaded = useLoaded<ListPage<PresetChange>>(presetPath(workspace, slug, `/changes?limit=${limit}`), 10_000);
  const log = presetPath(workspace, slug, "/changes");
  const last = useRef<{ readonly log: string; readonly answer: typeof loaded.answer }>(undefined);
  if (loaded.answer && !loaded.isLoading) last.current = { log, answer: loaded.answer };
  // What is known of a log is true also where more of it cannot be loaded.
  const changes = { ...loaded, answer: loaded.answer ?? (last.current?.log === log ? last.current.answer : undefined) };
  const revision = changes.answer?.json.data[0]?.revision;
  const seenRevision = useRef<number | undefined>(undefined);
  useEffect(() => {
    if (revision === undefined) return;
    if (seenRevision.current !== undefined && revision !== seenRevision.current) changed();
    seenRevision.current = revision;
  }, [revision]);
  return { changes, revision };
}
