import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, asApiError } from "../../api/api-error.ts";
import { useIdempotencyKey } from "../../api/idempotency-key.ts";
import { presetPath } from "../../api/presets.ts";
import { notChanged, request } from "../../api/request.ts";
import type { ListPage, One, PresetChange, PresetWithVersion, SessionWorkspace } from "../../api/types.ts";
import { forgetAnswers } from "../../api/use-loaded.ts";
import { showToast } from "../../shell/toasts.tsx";
import { ErrorDialog } from "../../ui/error-dialog.tsx";
import { type ConcurrentChanges, ConcurrentChangesDialog } from "./concurrent-changes-dialog.tsx";

interface DesignationParts {
  readonly workspace: SessionWorkspace;
  readonly slug: string;
  /** The state of the preset on the page, and its last known change. */
  readonly etag: string | undefined;
  readonly revision: number | undefined;
  readonly changed: () => void;
}

/**
 * Changes the served version: one click, with Undo for mistakes. It never overwrites a colleague's change that one has
 * not seen.
 */
export function useDesignation({ workspace, slug, etag, revision, changed }: DesignationParts) {
  const [isBusy, setBusy] = useState(false);
  const [concurrentChanges, setConcurrentChanges] = useState<ConcurrentChanges>();
  const [error, setError] = useState<ApiError>();
  const idempotencyKeyOf = useIdempotencyKey();
  const isUnmounted = useRef(false);
  useEffect(
    () => () => {
      isUnmounted.current = true;
    },
    [],
  );

  const designate = async (version: number, before: number, seen = etag): Promise<void> => {
    setBusy(true);
    setConcurrentChanges(undefined);
    try {
      const answer = await patchDesignation(version, seen);
      const undo = { label: "Undo", run: () => void designate(before, version, answer.etag) };
      showToast(`${slug} now serves v${version}.`, undo, presetPath(workspace, slug));
    } catch (thrown) {
      await showFailure(thrown, version);
    }
    forgetAnswers();
    changed();
    setBusy(false);
  };

  const patchDesignation = (version: number, seen: string | undefined) =>
    request<One<PresetWithVersion>>(presetPath(workspace, slug), {
      method: "PATCH",
      body: { designated_version: version },
      headers: { ...idempotencyKeyOf({ slug, version, seen }), ...(seen ? { "if-match": seen } : {}) },
    });

  const showFailure = async (thrown: unknown, version: number): Promise<void> => {
    // Undo outlives the screen, and a dialog of that screen would not be seen.
    if (isUnmounted.current) showToast(notChanged(slug, asApiError(thrown)));
    else if (thrown instanceof ApiError && thrown.status === 412) await loadConcurrentChanges(version);
    else setError(asApiError(thrown));
  };

  const loadConcurrentChanges = async (version: number): Promise<void> => {
    try {
      const [preset, log] = await Promise.all([
        request<One<PresetWithVersion>>(presetPath(workspace, slug)),
        request<ListPage<PresetChange>>(presetPath(workspace, slug, "/changes?limit=20")),
      ]);
      const changes = log.json.data.filter((change) => change.revision > (revision ?? 0));
      setConcurrentChanges({
        wanted: version,
        served: preset.json.data.designated_version.version,
        changes,
        etag: preset.etag,
      });
    } catch (thrown) {
      setError(asApiError(thrown));
    }
  };

  const dialog = concurrentChanges ? (
    <ConcurrentChangesDialog
      workspace={workspace}
      slug={slug}
      concurrentChanges={concurrentChanges}
      close={() => setConcurrentChanges(undefined)}
      designateAnyway={() => void designate(concurrentChanges.wanted, concurrentChanges.served, concurrentChanges.etag)}
    />
  ) : (
    error && <ErrorDialog title="The preset was not changed" error={error} close={() => setError(undefined)} />
  );
  return { designate: (version: number, before: number) => void designate(version, before), isBusy, dialog };
}

/** The label of the button that serves one version instead of another. */
export function designationLabel(version: number, served: number): string {
  return version < served ? `Roll back to v${version}` : `Serve v${version}`;
}
