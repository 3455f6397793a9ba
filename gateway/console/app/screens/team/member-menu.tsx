import { useState } from "preact/hooks";
import { type ApiError, asApiError } from "../../api/api-error.ts";
import { nameOf } from "../../api/people.ts";
import { request } from "../../api/request.ts";
import type { Member } from "../../api/types.ts";
import { showToast } from "../../shell/toasts.tsx";
import { copyAndConfirm } from "../../ui/copy-text.ts";
import { ErrorDialog } from "../../ui/error-dialog.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Menu } from "../../ui/menu.tsx";
import { MenuAction } from "../../ui/menu-action.tsx";
import { MemberForm } from "./member-form.tsx";
import { RemoveMember } from "./remove-member.tsx";

interface MemberMenuProps {
  readonly member: Member;
  /** Why the member can be neither demoted nor removed. */
  readonly reason: string | undefined;
  readonly changed: () => void;
}

export function MemberMenu({ member, reason, changed }: MemberMenuProps) {
  const [open, setOpen] = useState<"edit" | "remove">();
  const [error, setError] = useState<ApiError>();
  const name = nameOf(member);
  const close = (): void => setOpen(undefined);
  const setRole = async (role: Member["role"]): Promise<void> => {
    try {
      await request(`/api/v1/organization/members/${member.id}`, { method: "PATCH", body: { role } });
      showToast(role === "org:admin" ? `${name} is an admin now.` : `${name} is no longer an admin.`);
      changed();
    } catch (thrown) {
      setError(asApiError(thrown));
    }
  };
  return (
    <>
      <Menu buttonClass="button bare" title={`Actions for ${name}`} label={<Icon name="more" />}>
        <MenuAction run={() => setOpen("edit")}>Edit</MenuAction>
        {member.role === "org:admin" ? (
          <MenuAction reason={reason} run={() => void setRole("org:member")}>
            Make a member
          </MenuAction>
        ) : (
          <MenuAction run={() => void setRole("org:admin")}>Make an admin</MenuAction>
        )}
        {/* Callers of the API identify people by this id. */}
        <MenuAction run={() => void copyAndConfirm(member.id, "the user id")}>Copy the user id</MenuAction>
        <hr />
        <MenuAction isDangerous reason={reason} run={() => setOpen("remove")}>
          Remove
        </MenuAction>
      </Menu>
      {open === "edit" && <MemberForm member={member} reason={reason} close={close} changed={changed} />}
      {open === "remove" && <RemoveMember member={member} close={close} changed={changed} />}
      {error && <ErrorDialog title={`${name} was not changed`} error={error} close={() => setError(undefined)} />}
    </>
  );
}
