import { useState } from "preact/hooks";
import { type ApiError, asApiError } from "../../api/api-error.ts";
import { useIdempotencyKey } from "../../api/idempotency-key.ts";
import { notChanged, request } from "../../api/request.ts";
import { session } from "../../api/session.ts";
import type { Key } from "../../api/types.ts";
import { showToast } from "../../shell/toasts.tsx";
import { ErrorDialog } from "../../ui/error-dialog.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Menu } from "../../ui/menu.tsx";
import { MenuAction } from "../../ui/menu-action.tsx";
import { KeyEditor } from "./key-editor.tsx";
import { RotateKey } from "./rotate-key.tsx";

interface KeyMenuProps {
  readonly apiKey: Key;
  /** Why the key must keep working. */
  readonly reason: string | undefined;
  readonly changed: () => void;
}

/** The actions on a key. Disabling takes one click because it can be undone; deleting cannot, so it asks first. */
export function KeyMenu({ apiKey, reason, changed }: KeyMenuProps) {
  const [open, setOpen] = useState<"edit" | "rotate" | "disable" | "delete">();
  const [error, setError] = useState<ApiError>();
  const idempotencyKeyOf = useIdempotencyKey();
  const { id, name, disabled } = apiKey;
  const isOwn = id === session.value?.key.id;
  const close = (): void => setOpen(undefined);
  const path = `/api/v1/keys/${id}`;

  const setDisabled = async (to: boolean): Promise<void> => {
    await request(path, { method: "PATCH", body: { disabled: to } });
    changed();
    // Whoever disables the key that they are signed in with is signed out, and cannot undo it here.
    const undo = { label: to ? "Enable again" : "Disable again", run: () => void setBack(!to) };
    showToast(`“${name}” is ${to ? "disabled" : "enabled"}.`, isOwn ? undefined : undo, id);
  };
  // Reported in a toast: by then the row may be gone, and with it any place to show an error.
  const setBack = (to: boolean): Promise<void> =>
    setDisabled(to).catch((thrown: unknown) => showToast(notChanged(`“${name}”`, asApiError(thrown))));
  const tryToSet = (to: boolean): Promise<void> =>
    setDisabled(to).catch((thrown: unknown) => setError(asApiError(thrown)));
  const remove = async (): Promise<void> => {
    await request(path, { method: "DELETE", headers: idempotencyKeyOf({ path }) });
    close();
    changed();
    showToast(`“${name}” is deleted.`, undefined, id);
  };

  return (
    <>
      <Menu buttonClass="button bare" title={`Actions for ${name}`} label={<Icon name="more" />}>
        <MenuAction run={() => setOpen("edit")}>Edit</MenuAction>
        <MenuAction run={() => setOpen("rotate")}>Rotate: get a new secret</MenuAction>
        {disabled ? (
          <MenuAction run={() => void tryToSet(false)}>Enable</MenuAction>
        ) : (
          <MenuAction reason={reason} run={() => (isOwn ? setOpen("disable") : void tryToSet(true))}>
            Disable
          </MenuAction>
        )}
        <hr />
        <MenuAction isDangerous reason={reason} run={() => setOpen("delete")}>
          Delete
        </MenuAction>
      </Menu>
      {open === "edit" && <KeyEditor apiKey={apiKey} reason={reason} close={close} changed={changed} />}
      {open === "rotate" && <RotateKey apiKey={apiKey} isOwn={isOwn} close={close} changed={changed} />}
      {open === "disable" && (
        <FormDialog
          title={`Disable “${name}”?`}
          action="Disable and sign out"
          close={close}
          submit={() => setDisabled(true)}
        >
          {() => <p>You are signed in with this key. Someone with another management key can enable it again.</p>}
        </FormDialog>
      )}
      {open === "delete" && (
        <FormDialog title={`Delete “${name}”?`} action="Delete the key" isDangerous close={close} submit={remove}>
          {() => (
            <>
              <p class="wrap">
                <code>{apiKey.label}</code> stops working at once and cannot be brought back. Programs that use it are
                refused.
              </p>
              {isOwn && <p>You are signed in with this key, and will be signed out.</p>}
              {!disabled && (
                <p class="muted">Not sure whether it is still used? Disable it first: that can be undone.</p>
              )}
            </>
          )}
        </FormDialog>
      )}
      {error && <ErrorDialog title={`“${name}” was not changed`} error={error} close={() => setError(undefined)} />}
    </>
  );
}
