import { useState } from "preact/hooks";
import { type ApiError, asApiError } from "../../api/api-error.ts";
import { presetPath } from "../../api/presets.ts";
import { request } from "../../api/request.ts";
import { reasonNotTo } from "../../api/session.ts";
import type { PresetStatus, PresetWithVersion, SessionWorkspace } from "../../api/types.ts";
import { forgetAnswers } from "../../api/use-loaded.ts";
import { hrefTo, navigate, newPresetPart } from "../../shell/location.ts";
import { showToast } from "../../shell/toasts.tsx";
import { ActionButton } from "../../ui/action-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";

interface PresetActionsProps {
  readonly preset: PresetWithVersion;
  readonly etag: string | undefined;
  readonly workspace: SessionWorkspace;
  readonly changed: () => void;
  /** The version that is looked at. */
  readonly shown: number;
}

/** What can be done to a preset as a whole. */
export function PresetActions(props: PresetActionsProps) {
  const { preset, workspace, shown } = props;
  const isServed = shown === preset.designated_version.version;
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <a
        class="button"
        href={hrefTo([workspace.slug, "presets", preset.slug, "try"], { v: isServed ? undefined : shown })}
      >
        Try {isServed ? "it" : `v${shown}`}
      </a>
      <ActionButton run={() => setOpen(true)} reason={reasonNotTo("write")}>
        Settings
      </ActionButton>
      <ActionButton
        run={() => navigate(hrefTo([workspace.slug, "presets", newPresetPart], { like: preset.slug, v: shown }))}
        reason={reasonNotTo("write")}
      >
        Duplicate
      </ActionButton>
      <ActionButton
        class="primary"
        run={() => navigate(hrefTo([workspace.slug, "presets", preset.slug, "edit"], { from: shown }))}
        reason={
          reasonNotTo("write") ??
          (preset.status === "archived"
            ? "An archived preset takes no new version. Make it active first, in its settings."
            : undefined)
        }
      >
        Edit v{shown}
      </ActionButton>
      {isOpen && <SettingsDialog {...props} close={() => setOpen(false)} />}
    </>
  );
}

const statuses: readonly (readonly [PresetStatus, label: string, what: string])[] = [
  ["active", "Active", "in use"],
  ["disabled", "Disabled", "requests that name it are refused; it takes new versions"],
  ["archived", "Archived", "requests are refused, and it takes no new version until it is active again"],
];

function SettingsDialog({
  preset,
  etag,
  workspace,
  changed,
  close,
}: PresetActionsProps & { readonly close: () => void }) {
  const [name, setName] = useState(preset.name);
  const [description, setDescription] = useState(preset.description ?? "");
  const [status, setStatus] = useState(preset.status);
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);

  const save = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    // Only what was changed here: what a colleague changed beside it stays.
    const body = {
      ...(name === preset.name ? {} : { name }),
      ...(description === (preset.description ?? "") ? {} : { description: description === "" ? null : description }),
      ...(status === preset.status ? {} : { status }),
    };
    if (Object.keys(body).length === 0) return close();
    setBusy(true);
    setError(undefined);
    try {
      const headers = { "idempotency-key": crypto.randomUUID(), ...(etag ? { "if-match": etag } : {}) };
      await request(presetPath(workspace, preset.slug), { method: "PATCH", body, headers });
      forgetAnswers();
      changed();
      close();
      showToast("The settings were saved.");
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
      // The next try is about the state that is there now.
      changed();
    }
  };
  return (
    <Dialog title={`Settings of ${preset.slug}`} close={close}>
      <form class="stack" onSubmit={save}>
        {error && <ErrorPanel error={error} title="Nothing was saved" />}
        <div class="field">
          <label for="preset-name">Name</label>
          <input
            id="preset-name"
            class="input"
            required
            maxLength={255}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </div>
        <div class="field">
          <label for="preset-description">Description</label>
          <textarea
            id="preset-description"
            class="input"
            rows={3}
            maxLength={2000}
            value={description}
            onInput={(event) => setDescription(event.currentTarget.value)}
          />
        </div>
        <fieldset class="stack-tight">
          <legend class="label">Status</legend>
          {statuses.map(([value, label, what]) => {
            const isBarred = preset.status === "archived" && value === "disabled";
            return (
              <label key={value} class="choice">
                <input
                  type="radio"
                  name="status"
                  checked={status === value}
                  disabled={isBarred}
                  onChange={() => setStatus(value)}
                />
                <span>
                  <strong>{label}</strong> <span class="muted">{isBarred ? "make it active first" : what}</span>
                </span>
              </label>
            );
          })}
        </fieldset>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="button primary" aria-disabled={isBusy ? "true" : undefined}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
