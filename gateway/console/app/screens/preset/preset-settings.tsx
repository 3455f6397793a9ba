import { useState } from "preact/hooks";
import { presetDescriptionLengthMax, presetNameLengthMax } from "../../../../../services/platform/domain/limits.ts";
import { presetPath } from "../../api/presets.ts";
import { request } from "../../api/request.ts";
import type { PresetStatus, PresetWithVersion, SessionWorkspace } from "../../api/types.ts";
import { forgetAnswers } from "../../api/use-loaded.ts";
import { showToast } from "../../shell/toasts.tsx";
import { TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { useOwnChanges } from "../../ui/use-own-changes.ts";

interface PresetSettingsProps {
  readonly preset: PresetWithVersion;
  readonly etag: string | undefined;
  readonly workspace: SessionWorkspace;
  /** The status that is selected when the dialog opens. */
  readonly startStatus: PresetStatus;
  readonly close: () => void;
  readonly changed: () => void;
}

const statuses: readonly (readonly [PresetStatus, label: string, what: string])[] = [
  ["active", "Active", "Requests that name it are served."],
  ["disabled", "Disabled", "Requests that name it are refused. New versions can still be added."],
  ["archived", "Archived", "Requests are refused, and no versions can be added until it is active again."],
];

export function PresetSettings({ preset, etag, workspace, startStatus, close, changed }: PresetSettingsProps) {
  const [name, setName] = useState(preset.name);
  const [description, setDescription] = useState(preset.description ?? "");
  const [status, setStatus] = useState(startStatus);
  const changesIn = useOwnChanges(preset);

  const submit = async (): Promise<void> => {
    const body = changesIn({ name, description: description || null, status });
    if (Object.keys(body).length === 0) return close();
    try {
      const headers = { "idempotency-key": crypto.randomUUID(), ...(etag ? { "if-match": etag } : {}) };
      await request(presetPath(workspace, preset.slug), { method: "PATCH", body, headers });
      close();
      showToast("The settings were saved.");
    } finally {
      // After an error, too: the next attempt applies to the current state.
      forgetAnswers();
      changed();
    }
  };
  return (
    <FormDialog
      title={`Settings of ${preset.slug}`}
      action="Save"
      close={close}
      submit={submit}
      explain={({ status: refusal }) =>
        refusal === 412 && (
          <p>
            Someone else changed the preset while you had this open. What you entered is still here: save again to apply
            it on top of their change.
          </p>
        )
      }
    >
      {(faultOf) => (
        <>
          <TextField
            label="Name"
            fault={faultOf("name")}
            value={name}
            change={setName}
            maxLength={presetNameLengthMax}
            isRequired
          />
          <TextField
            label="Description"
            fault={faultOf("description")}
            value={description}
            change={setDescription}
            maxLength={presetDescriptionLengthMax}
            rows={3}
          />
          <fieldset class="stack-tight">
            <legend class="label">Status</legend>
            {statuses.map(([value, label, what]) => {
              const isUnavailable = preset.status === "archived" && value === "disabled";
              return (
                <label key={value} class="choice">
                  <input
                    type="radio"
                    name="status"
                    checked={status === value}
                    disabled={isUnavailable}
                    onChange={() => setStatus(value)}
                  />
                  <span>
                    {label} <span class="choice-meaning">{isUnavailable ? "Make it active first." : what}</span>
                  </span>
                </label>
              );
            })}
          </fieldset>
        </>
      )}
    </FormDialog>
  );
}
