import { useState } from "preact/hooks";
import { ApiError } from "../../api/api-error.ts";
import { useIdempotencyKey } from "../../api/idempotency-key.ts";
import { request } from "../../api/request.ts";
import type { SessionWorkspace, Workspace } from "../../api/types.ts";
import { hrefTo } from "../../shell/location.ts";
import { presetsHref } from "../../shell/preset-hrefs.ts";
import { showToast } from "../../shell/toasts.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Menu } from "../../ui/menu.tsx";
import { MenuAction } from "../../ui/menu-action.tsx";
import { forgetWorkspace } from "./known-workspaces.ts";
import { type KeyInWorkspace, listWorkingKeys, WorkingKeys } from "./working-keys.tsx";
import { WorkspaceForm } from "./workspace-form.tsx";

interface WorkspaceMenuProps {
  readonly shown: Workspace;
  /** Whether it is the organization's default workspace, which always exists. */
  readonly isDefault: boolean;
  /** The workspace that the console is in. */
  readonly current: SessionWorkspace;
  readonly changed: () => void;
}

export function WorkspaceMenu({ shown, isDefault, current, changed }: WorkspaceMenuProps) {
  const [open, setOpen] = useState<"edit" | "delete">();
  const [working, setWorking] = useState<readonly KeyInWorkspace[]>([]);
  const idempotencyKeyOf = useIdempotencyKey();
  const close = (): void => setOpen(undefined);
  const remove = async (): Promise<void> => {
    setWorking([]);
    try {
      const path = `/api/v1/workspaces/${shown.id}`;
      await request(path, { method: "DELETE", headers: idempotencyKeyOf({ path }) });
    } catch (refusal) {
      // The API names some of the keys, but by ids that are not shown here.
      if (refusal instanceof ApiError && refusal.status === 400)
        setWorking(await listWorkingKeys([shown]).catch(() => []));
      throw refusal;
    }
    close();
    forgetWorkspace(shown.id, current);
    showToast(`“${shown.name}” is deleted.`, undefined, shown.id);
    changed();
  };
  return (
    <>
      <Menu buttonClass="button bare" title={`Actions for ${shown.name}`} label={<Icon name="more" />}>
        <a class="menu-item" href={presetsHref(shown)}>
          Presets
        </a>
        <a class="menu-item" href={hrefTo([shown.slug, "keys"])}>
          Keys
        </a>
        <a class="menu-item" href={hrefTo([current.slug, "team", shown.slug])}>
          Members
        </a>
        <hr />
        <MenuAction run={() => setOpen("edit")}>Edit</MenuAction>
        <MenuAction
          isDangerous
          reason={isDefault ? "The default workspace cannot be deleted." : undefined}
          run={() => setOpen("delete")}
        >
          Delete
        </MenuAction>
      </Menu>
      {open === "edit" && <WorkspaceForm shown={shown} current={current} close={close} changed={changed} />}
      {open === "delete" && (
        <FormDialog
          title={`Delete “${shown.name}”?`}
          action="Delete the workspace"
          isDangerous
          close={close}
          submit={remove}
          explain={() =>
            working.length > 0 && (
              <WorkingKeys keys={working} owner={shown.name}>
                Disable or delete {working.length === 1 ? "it" : "them"} first:
              </WorkingKeys>
            )
          }
        >
          {() => (
            <p>
              Its presets can no longer be reached, and that cannot be undone here. A workspace with keys that still
              work cannot be deleted: disable or delete them first.
            </p>
          )}
        </FormDialog>
      )}
    </>
  );
}
