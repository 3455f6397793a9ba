import { useState } from "preact/hooks";
import { nameLengthMax } from "../../../../../services/platform/domain/limits.ts";
import { request } from "../../api/request.ts";
import type { Key } from "../../api/types.ts";
import { showToast } from "../../shell/toasts.tsx";
import { TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { useOwnChanges } from "../../ui/use-own-changes.ts";
import { ExpiryField } from "./expiry-field.tsx";
import { PermissionChoice } from "./permission-choice.tsx";

interface KeyEditorProps {
  readonly apiKey: Key;
  /** Why the key must keep working. */
  readonly reason: string | undefined;
  readonly close: () => void;
  readonly changed: () => void;
}

export function KeyEditor({ apiKey, reason, close, changed }: KeyEditorProps) {
  const [name, setName] = useState(apiKey.name);
  const [permissions, setPermissions] = useState<Key["permissions"]>(apiKey.permissions);
  const [expiresAt, setExpiresAt] = useState(apiKey.expires_at);
  const changesIn = useOwnChanges(apiKey);

  const submit = async (): Promise<void> => {
    const body = changesIn({ name: name.trim(), permissions, expires_at: expiresAt });
    if (Object.keys(body).length > 0) {
      await request(`/api/v1/keys/${apiKey.id}`, { method: "PATCH", body });
      showToast(`“${name.trim()}” is changed.`);
      changed();
    }
    close();
  };
  return (
    <FormDialog title={`Edit “${apiKey.name}”`} action="Save" close={close} submit={submit}>
      {(faultOf) => (
        <>
          <TextField
            label="Name"
            fault={faultOf("name")}
            value={name}
            change={setName}
            maxLength={nameLengthMax}
            isRequired
          />
          {apiKey.kind === "api" && (
            <PermissionChoice
              chosen={permissions}
              change={(chosen) => setPermissions([...chosen])}
              fault={faultOf("permissions")}
            />
          )}
          {reason && apiKey.expires_at === null ? (
            <p class="hint">It never expires. {reason}</p>
          ) : (
            <ExpiryField value={expiresAt} change={setExpiresAt} fault={faultOf("expires_at")} />
          )}
        </>
      )}
    </FormDialog>
  );
}
