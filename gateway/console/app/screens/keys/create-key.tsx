import { useState } from "preact/hooks";
import { request } from "../../api/request.ts";
import type { Key, SessionWorkspace } from "../../api/types.ts";
import { useAction } from "../../api/use-action.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import type { Secret } from "../keys.tsx";

interface CreateKeyProps {
  readonly workspace: SessionWorkspace;
  readonly close: () => void;
  readonly created: (secret: Secret) => void;
}

const permissions = [
  ["presets:read", "read presets"],
  ["presets:write", "change presets"],
  ["inference", "call models with them"],
] as const;

const lives = [
  ["", "Never"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"],
] as const;

const dayMs = 86_400_000;

export function CreateKey({ workspace, close, created }: CreateKeyProps) {
  const action = useAction();
  const [name, setName] = useState("");
  const [kind, setKind] = useState<Key["kind"]>("api");
  const [allowed, setAllowed] = useState<readonly string[]>(permissions.map(([permission]) => permission));
  const [days, setDays] = useState("");
  // Of the dialog: a second try after a lost answer makes no second key.
  const [idempotencyKey] = useState(() => crypto.randomUUID());

  const submit = async (): Promise<void> => {
    const body = {
      name: name.trim(),
      kind,
      ...(kind === "api" ? { workspace_id: workspace.id, permissions: allowed } : {}),
      ...(days === "" ? {} : { expires_at: new Date(Date.now() + Number(days) * dayMs).toISOString() }),
    };
    const { json } = await request<{ data: Key; key: string }>("/api/v1/keys", {
      method: "POST",
      body,
      headers: { "idempotency-key": idempotencyKey },
    });
    created({ name: json.data.name, secret: json.key });
  };
  return (
    <FormDialog title="Create a key" label="Create" action={action} submit={submit} close={close}>
      <div class="field">
        <label for="key-name">Name</label>
        <input
          id="key-name"
          class="input"
          required
          maxLength={255}
          placeholder="What uses it, such as “checkout service”"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </div>
      <fieldset class="stack-tight">
        <legend class="label">Kind</legend>
        <label class="choice">
          <input type="radio" name="kind" checked={kind === "api"} onChange={() => setKind("api")} />
          <span>
            <strong>API key</strong> <span class="muted">for the presets of {workspace.name}</span>
          </span>
        </label>
        <label class="choice">
          <input type="radio" name="kind" checked={kind === "management"} onChange={() => setKind("management")} />
          <span>
            <strong>Management key</strong> <span class="muted">for keys, members and all workspaces</span>
          </span>
        </label>
      </fieldset>
      {kind === "api" && (
        <fieldset class="stack-tight">
          <legend class="label">It may</legend>
          {permissions.map(([permission, what]) => (
            <label key={permission} class="choice">
              <input
                type="checkbox"
                checked={allowed.includes(permission)}
                onChange={({ currentTarget }) =>
                  setAllowed(
                    currentTarget.checked ? [...allowed, permission] : allowed.filter((each) => each !== permission),
                  )
                }
              />
              <span>
                {what} <code class="muted">{permission}</code>
              </span>
            </label>
          ))}
        </fieldset>
      )}
      <div class="field">
        <label for="key-expiry">Expires</label>
        <select id="key-expiry" class="input" value={days} onChange={(event) => setDays(event.currentTarget.value)}>
          {lives.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </div>
    </FormDialog>
  );
}
