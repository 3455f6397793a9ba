import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ApiError, asApiError } from "../../api/api-error.ts";
import { presetPath } from "../../api/presets.ts";
import { request } from "../../api/request.ts";
import type { One, Page, PresetChange, PresetWithVersion, SessionWorkspace } from "../../api/types.ts";
import { forgetAnswers } from "../../api/use-loaded.ts";
import { showToast } from "../../shell/toasts.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { ChangeList } from "./change-list.tsx";

interface DesignationParts {
  readonly workspace: SessionWorkspace;
  readonly slug: string;
  /** The state of the preset that is seen, and the last change that is known of it. */
  readonly etag: string | undefined;
  readonly revision: number | undefined;
  readonly changed: () => void;
}

interface Meanwhile {
  readonly version: number;
  readonly changes: readonly PresetChange[];
  readonly preset: PresetWithVersion;
  readonly etag: string | undefined;
}

/** A rollback: one click, and Undo where it was a mistake. It never undoes what a colleague did meanwhile unseen. */
export function useDesignation({ workspace, slug, etag, revision, changed }: DesignationParts) {
  const [isBusy, setBusy] = useState(false);
  const [meanwhile, setMeanwhile] = useState<Meanwhile>();
  const [error, setError] = useState<ApiError>();

  const designate = async (version: number, before: number, seen = etag): Promise<void> => {
    setBusy(true);
    setMeanwhile(undefined);
    try {
      const answer = await patchDesignation(version, seen);
      showToast(`${slug} now serves v${version}.`, {
        label: "Undo",
        run: () => void designate(before, version, answer.etag),
      });
    } catch (thrown) {
      if (thrown instanceof ApiError && thrown.status === 412) await lookWhatChanged(version);
      else setError(asApiError(thrown));
    }
    forgetAnswers();
    changed();
    setBusy(false);
  };

  const patchDesignation = (version: number, seen: string | undefined) =>
    request<One<PresetWithVersion>>(presetPath(workspace, slug), {
      method: "PATCH",
      body: { designated_version: version },
      headers: { "idempotency-key": crypto.randomUUID(), ...(seen ? { "if-match": seen } : {}) },
    });

  const lookWhatChanged = async (version: number): Promise<void> => {
    try {
      const [preset, log] = await Promise.all([
        request<One<PresetWithVersion>>(presetPath(workspace, slug)),
        request<Page<PresetChange>>(presetPath(workspace, slug, "/changes?limit=20")),
      ]);
      const changes = log.json.data.filter((change) => change.revision > (revision ?? 0));
      setMeanwhile({ version, changes, preset: preset.json.data, etag: preset.etag });
    } catch (thrown) {
      setError(asApiError(thrown));
    }
  };

  let dialog: ComponentChildren = null;
  if (meanwhile) {
    const { version, changes, preset, etag: current } = meanwhile;
    const now = preset.designated_version.version;
    dialog = (
      <Dialog title="Somebody changed this preset meanwhile" close={() => setMeanwhile(undefined)}>
        <p>
          Nothing was changed for you. <strong>{slug}</strong> serves <strong>v{now}</strong> now. What happened since
          you loaded it:
        </p>
        <ChangeList changes={changes} workspace={workspace} slug={slug} />
        <div class="dialog-actions">
          <button type="button" class="button" onClick={() => setMeanwhile(undefined)}>
            Leave it at v{now}
          </button>
          {version !== now && (
            <button type="button" class="button primary" onClick={() => void designate(version, now, current)}>
              Serve v{version} anyway
            </button>
          )}
        </div>
      </Dialog>
    );
  } else if (error) {
    dialog = (
      <Dialog title="The preset was not changed" close={() => setError(undefined)}>
        <ErrorPanel error={error} />
        <div class="dialog-actions">
          <button type="button" class="button" onClick={() => setError(undefined)}>
            Close
          </button>
        </div>
      </Dialog>
    );
  }
  return { designate: (version: number, before: number) => void designate(version, before), isBusy, dialog };
}

/** What the button says that has a version served instead of another. */
export function designationLabel(version: number, served: number): string {
  return version < served ? `Roll back to v${version}` : `Serve v${version}`;
}
