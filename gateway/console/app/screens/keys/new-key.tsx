import { useState } from "preact/hooks";
import { nameLengthMax } from "../../../../../services/platform/domain/limits.ts";
import { ApiError } from "../../api/api-error.ts";
import { useIdempotencyKey } from "../../api/idempotency-key.ts";
import { request } from "../../api/request.ts";
import { session } from "../../api/session.ts";
import type { Key, SessionWorkspace } from "../../api/types.ts";
import { showSecret } from "../../shell/secret.tsx";
import { TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { ExpiryField } from "./expiry-field.tsx";
import { OwnerField } from "./owner-field.tsx";
import { allPermissions, PermissionChoice } from "./permission-choice.tsx";

interface NewKeyProps {
  readonly workspace: SessionWorkspace;
  readonly close: () => void;
  readonly changed: () => void;
}

export function NewKey({ workspace, close, changed }: NewKeyProps) {
  const [name, setName] = useState("");
  const [owner, setOwner] = useState(session.value?.user_id ?? "");
  const [kind, setKind] = useState<Key["kind"]>("api");
  const [permissions, setPermissions] = useState(allPermissions);
  const [expiresAt, setExpiresAt] = useState<string | null>(null);
  const idempotencyKeyOf = useIdempotencyKey();
  const kinds: readonly (readonly [Key["kind"], string, string])[] = [
    ["api", "API key", `For programs, and for people who sign in here: the presets of ${workspace.name}.`],
    ["management", "Management key", "For administrators: keys, members, and the presets of all workspaces."],
  ];

  const submit = async (): Promise<void> => {
    const reach = kind === "api" ? { workspace_id: workspace.id, permissions } : {};
    const body = { name: name.trim(), kind, expires_at: expiresAt, creator_user_id: owner, ...reach };
    try {
      const { json } = await request<{ readonly key: string }>("/api/v1/keys", {
        method: "POST",
        body,
        headers: idempotencyKeyOf(body),
      });
      close();
      const place = kind === "api" ? `for ${workspace.name}` : "for the whole organization";
      showSecret({ title: "Key created", note: `“${body.name}” is ready, ${place}.`, secret: json.key });
      changed();
    } catch (error) {
      // An earlier attempt whose response was lost did create the key, so it is in the list.
      if (error instanceof ApiError && error.status === 409) changed();
      throw error;
    }
  };
  return (
    <FormDialog
      title="Create a key"
      action="Create"
      close={close}
      submit={submit}
      explain={({ status }) =>
        status === 409 && (
          <p class="wrap">
            An earlier attempt made “{name.trim()}”, but its secret did not arrive here, and it is shown only once. The
            key is in the list: rotate it to get a new secret.
          </p>
        )
      }
    >
      {(faultOf) => (
        <>
          <TextField
            label="Name"
            hint="What uses it, such as “checkout service” or “ci”."
            fault={faultOf("name")}
            value={name}
            change={setName}
            maxLength={nameLengthMax}
            isRequired
          />
          <OwnerField value={owner} change={setOwner} fault={faultOf("creator_user_id")} />
          <fieldset class="stack-tight">
            <legend class="label">Kind</legend>
            {kinds.map(([value, label, meaning]) => (
              <label key={value} class="choice">
                <input type="radio" name="kind" checked={kind === value} onChange={() => setKind(value)} />
                <span>
                  {label} <span class="choice-meaning wrap">{meaning}</span>
                </span>
              </label>
            ))}
          </fieldset>
          {kind === "api" ? (
            <PermissionChoice chosen={permissions} change={setPermissions} fault={faultOf("permissions")} />
          ) : (
            <p class="hint">
              A management key reads and writes presets, and cannot call models. It is listed with the keys of the
              default workspace.
            </p>
          )}
          <ExpiryField value={expiresAt} change={setExpiresAt} fault={faultOf("expires_at")} />
        </>
      )}
    </FormDialog>
  );
}
