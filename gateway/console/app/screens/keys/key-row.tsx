import { useState } from "preact/hooks";
import { request } from "../../api/request.ts";
import { session } from "../../api/session.ts";
import type { Key } from "../../api/types.ts";
import { useAction } from "../../api/use-action.ts";
import { showToast } from "../../shell/toasts.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Person } from "../../ui/person.tsx";
import { Time } from "../../ui/time.tsx";
import type { Secret } from "../keys.tsx";

interface KeyRowProps {
  readonly item: Key;
  readonly changed: () => void;
  readonly showSecret: (secret: Secret) => void;
}

const permissionWords: Readonly<Record<string, string>> = {
  "presets:read": "read",
  "presets:write": "write",
  inference: "inference",
};

export function KeyRow({ item, changed, showSecret }: KeyRowProps) {
  const [asked, setAsked] = useState<"disable" | "rotate" | "delete">();
  const close = (): void => setAsked(undefined);
  const path = `/api/v1/keys/${item.id}`;
  const isOwn = item.id === session.value?.key.id;
  const parts = { item, path, changed, close };
  const enable = useAction();
  const may =
    item.kind === "management"
      ? "everything but inference"
      : item.permissions.map((each) => permissionWords[each] ?? each).join(", ");
  const isExpired = item.expires_at !== null && Date.parse(item.expires_at) < Date.now();
  return (
    <tr>
      <td>
        <div class="two-lines">
          <span class="row">
            <strong class="cut" title={item.name}>
              {item.name}
            </strong>
            {item.kind === "management" && <span class="badge accent">Management</span>}
            {isOwn && <span class="badge">Yours now</span>}
            {item.disabled && <span class="badge warn">Disabled</span>}
            {isExpired && <span class="badge">Expired</span>}
          </span>
          <span class="mono muted cut">{item.label}</span>
          <span class="only-narrow muted small">
            {may} ·{" "}
            {item.last_used_at === null ? (
              "never used"
            ) : (
              <>
                used <Time at={item.last_used_at} />
              </>
            )}
            {item.expires_at !== null && (
              <>
                {" "}
                · expires <Time at={item.expires_at} />
              </>
            )}
          </span>
          {enable.error && <span class="fault">{enable.error.message}</span>}
        </div>
      </td>
      <td class="only-wide muted">{may}</td>
      <td class="only-wide muted">
        <div class="cut">
          <Person id={item.creator_user_id} />
        </div>
      </td>
      <td class="only-wide muted">{item.last_used_at === null ? "never" : <Time at={item.last_used_at} />}</td>
      <td class="only-wide muted">{item.expires_at === null ? "never" : <Time at={item.expires_at} />}</td>
      <td class="column-actions">
        <Menu buttonClass="button bare" title={`Actions for ${item.name}`} label={<Icon name="more" />}>
          {item.disabled ? (
            <button
              type="button"
              class="menu-item"
              onClick={() =>
                enable.run(async () => {
                  await request(path, { method: "PATCH", body: { disabled: false } });
                  changed();
                  showToast(`The key ${item.name} works again.`);
                })
              }
            >
              Enable
            </button>
          ) : (
            <button type="button" class="menu-item" onClick={() => setAsked("disable")}>
              Disable …
            </button>
          )}
          <button type="button" class="menu-item" onClick={() => setAsked("rotate")}>
            Rotate …
          </button>
          <hr />
          <button type="button" class="menu-item" onClick={() => setAsked("delete")}>
            Delete …
          </button>
        </Menu>
        {asked === "disable" && <DisableKey {...parts} />}
        {asked === "rotate" && <RotateKey {...parts} showSecret={showSecret} />}
        {asked === "delete" && <DeleteKey {...parts} />}
      </td>
    </tr>
  );
}

interface KeyDialogProps {
  readonly item: Key;
  readonly path: string;
  readonly changed: () => void;
  readonly close: () => void;
}

function DisableKey({ item, path, changed, close }: KeyDialogProps) {
  const submit = async (): Promise<void> => {
    await request(path, { method: "PATCH", body: { disabled: true } });
    changed();
    close();
    showToast(`The key ${item.name} is disabled.`, {
      label: "Enable it again",
      run: () => void request(path, { method: "PATCH", body: { disabled: false } }).then(changed),
    });
  };
  return (
    <FormDialog title={`Disable ${item.name}?`} label="Disable" action={useAction()} submit={submit} close={close}>
      <p>Requests with it are refused within a minute. It can be enabled again at any time.</p>
    </FormDialog>
  );
}

function DeleteKey({ item, path, changed, close }: KeyDialogProps) {
  const submit = async (): Promise<void> => {
    await request(path, { method: "DELETE" });
    changed();
    close();
    showToast(`The key ${item.name} was deleted.`);
  };
  return (
    <FormDialog
      title={`Delete ${item.name}?`}
      label="Delete for good"
      isDangerous
      action={useAction()}
      submit={submit}
      close={close}
    >
      <p>
        The key never works again, and this cannot be undone. To stop it for a while, <strong>disable</strong> it
        instead.
      </p>
    </FormDialog>
  );
}

const graces = [
  ["0", "At once"],
  ["3600", "After an hour"],
  ["86400", "After a day"],
  ["604800", "After a week"],
] as const;

function RotateKey({
  item,
  path,
  changed,
  close,
  showSecret,
}: KeyDialogProps & { readonly showSecret: (secret: Secret) => void }) {
  const [grace, setGrace] = useState("86400");
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const submit = async (): Promise<void> => {
    const { json } = await request<{ key: string }>(`${path}/rotate`, {
      method: "POST",
      body: { grace_seconds: Number(grace) },
      headers: { "idempotency-key": idempotencyKey },
    });
    changed();
    close();
    showSecret({ name: item.name, secret: json.key });
  };
  return (
    <FormDialog
      title={`Rotate ${item.name}`}
      label="Make a new secret"
      action={useAction()}
      submit={submit}
      close={close}
    >
      <p>The key gets a new secret. Its name, workspace and permissions stay.</p>
      <div class="field">
        <label for="grace">The old secret stops working</label>
        <select id="grace" class="input" value={grace} onChange={(event) => setGrace(event.currentTarget.value)}>
          {graces.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </div>
    </FormDialog>
  );
}
