import { useEffect, useRef } from "preact/hooks";
import { presetPath } from "../../api/presets.ts";
import type { ListPage, PresetChange, SessionWorkspace } from "../../api/types.ts";
import { useLoaded } from "../../api/use-loaded.ts";

/**
 * The last changes of a preset, and the revision that follows from them. The log is small, so it is what gets polled.
 * `changed` is called if the preset has changed since: by a colleague, or by an Undo after one left the screen.
 */
export function usePresetChanges(workspace: SessionWorkspace, slug: string, limit: number, changed: () => void) {
  const loaded = useLoaded<ListPage<PresetChange>>(presetPath(workspace, slug, `/changes?limit=${limit}`), 10_000);
  const log = presetPath(workspace, slug, "/changes");
  const last = useRef<{ readonly log: string; readonly answer: typeof loaded.answer }>(undefined);
  if (loaded.answer && !loaded.isLoading) last.current = { log, answer: loaded.answer };
  // Entries that are known stay true, even if more of the log cannot be loaded.
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
