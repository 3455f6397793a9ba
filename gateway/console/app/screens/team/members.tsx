import { useState } from "preact/hooks";
import { request } from "../../api/request.ts";
import { session } from "../../api/session.ts";
import type { Member, Page, SessionWorkspace } from "../../api/types.ts";
import { useAction } from "../../api/use-action.ts";
import type { Loaded } from "../../api/use-loaded.ts";
import { hrefTo } from "../../shell/location.ts";
import { showToast } from "../../shell/toasts.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Pager } from "../../ui/pager.tsx";
import { loadNames, nameOf } from "../../ui/person.tsx";
import { SkeletonRows } from "../../ui/skeleton-rows.tsx";

const pageSize = 50;
const roles = [
  ["org:member", "Member"],
  ["org:admin", "Admin"],
] as const;

interface MembersProps {
  readonly members: Loaded<Page<Member>>;
  readonly page: number;
  readonly workspace: SessionWorkspace;
}

export function membersPath(page: number): string {
  return `/api/v1/organization/members?limit=${pageSize}&offset=${(page - 1) * pageSize}`;
}

export function Members({ members, page, workspace }: MembersProps) {
  const [isAdding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState<Member>();
  const changed = (): void => {
    members.reload();
    loadNames().catch(() => {});
  };
  const list = members.answer?.json.data;
  const total = members.answer?.json.total_count ?? 0;
  return (
    <section class="panel" aria-labelledby="members-title">
      <div class="panel-head">
        <h2 id="members-title">Members of {session.value?.organization.name}</h2>
        <button type="button" class="button small" onClick={() => setAdding(true)}>
          <Icon name="plus" /> Add a member
        </button>
      </div>
      {members.error && (
        <ErrorPanel error={members.error} title="The members could not be loaded" retry={members.reload} />
      )}
      <table class="table stacks" aria-busy={members.isLoading}>
        <caption class="visually-hidden">Members, the oldest first</caption>
        <thead>
          <tr>
            <th scope="col">Member</th>
            <th scope="col" class="column-role">
              Role
            </th>
            <th scope="col" class="column-remove">
              <span class="visually-hidden">Remove</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {list ? (
            list.map((member) => (
              <MemberRow key={member.id} member={member} changed={changed} leave={() => setLeaving(member)} />
            ))
          ) : (
            <SkeletonRows rows={3} columns={3} />
          )}
        </tbody>
      </table>
      {total > pageSize && (
        <div class="panel-foot">
          <Pager
            page={page}
            pageSize={pageSize}
            total={total}
            hrefOf={(to) => hrefTo([workspace.slug, "team"], { page: to > 1 ? to : undefined })}
          />
        </div>
      )}
      {isAdding && <AddMember changed={changed} close={() => setAdding(false)} />}
      {leaving && <RemoveMember member={leaving} changed={changed} close={() => setLeaving(undefined)} />}
    </section>
  );
}

interface MemberRowProps {
  readonly member: Member;
  readonly changed: () => void;
  readonly leave: () => void;
}

function MemberRow({ member, changed, leave }: MemberRowProps) {
  const action = useAction();
  const name = nameOf(member);
  const setRole = (role: string): void =>
    action.run(async () => {
      await request(`/api/v1/organization/members/${member.id}`, { method: "PATCH", body: { role } });
      changed();
      showToast(`${name} is ${role === "org:admin" ? "an admin" : "a member"} now.`);
    });
  return (
    <tr>
      <td>
        <div class="two-lines">
          <strong class="cut">{name}</strong>
          <span class="muted cut">{member.email}</span>
          {action.error && (
            <span class="fault" role="alert">
              {action.error.message}
            </span>
          )}
        </div>
      </td>
      <td class="column-role">
        <select
          class="input"
          aria-label={`Role of ${name}`}
          value={member.role}
          disabled={action.isBusy}
          onChange={(event) => {
            setRole(event.currentTarget.value);
            // What is shown is what is stored; a role that was refused is not.
            event.currentTarget.value = member.role;
          }}
        >
          {roles.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </td>
      <td class="column-remove">
        <button type="button" class="button small" aria-label={`Remove ${name}`} onClick={leave}>
          Remove
        </button>
      </td>
    </tr>
  );
}

interface MemberDialogProps {
  readonly changed: () => void;
  readonly close: () => void;
}

function AddMember({ changed, close }: MemberDialogProps) {
  const [member, setMember] = useState({ email: "", first_name: "", last_name: "", role: "org:member" });
  const submit = async (): Promise<void> => {
    const given = Object.fromEntries(Object.entries(member).filter(([, value]) => value !== ""));
    await request("/api/v1/organization/members", { method: "POST", body: given });
    changed();
    close();
    showToast(`${member.email} was added.`);
  };
  const text = (name: "email" | "first_name" | "last_name", label: string, type: "email" | "text" = "text") => (
    <div class="field">
      <label for={`member-${name}`}>{label}</label>
      <input
        id={`member-${name}`}
        class="input"
        {...(type === "email" ? { type: "email" as const, required: true } : { type: "text" as const })}
        maxLength={type === "email" ? 320 : 255}
        value={member[name]}
        onInput={(event) => setMember({ ...member, [name]: event.currentTarget.value })}
      />
    </div>
  );
  return (
    <FormDialog title="Add a member" label="Add" action={useAction()} submit={submit} close={close}>
      {text("email", "E-mail address", "email")}
      <div class="field-pair">
        {text("first_name", "First name")}
        {text("last_name", "Last name")}
      </div>
      <div class="field">
        <label for="member-role">Role</label>
        <select
          id="member-role"
          class="input"
          value={member.role}
          onChange={(event) => setMember({ ...member, role: event.currentTarget.value })}
        >
          {roles.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </div>
    </FormDialog>
  );
}

function RemoveMember({ member, changed, close }: MemberDialogProps & { readonly member: Member }) {
  const [disablesKeys, setDisablesKeys] = useState(false);
  const submit = async (): Promise<void> => {
    const query = disablesKeys ? "?disable_keys=true" : "";
    await request(`/api/v1/organization/members/${member.id}${query}`, { method: "DELETE" });
    changed();
    close();
    showToast(`${nameOf(member)} was removed.`);
  };
  return (
    <FormDialog
      title={`Remove ${nameOf(member)}?`}
      label="Remove"
      isDangerous
      action={useAction()}
      submit={submit}
      close={close}
    >
      <p>They lose the organization. What they made stays, under their name.</p>
      <label class="choice">
        <input
          type="checkbox"
          checked={disablesKeys}
          onChange={(event) => setDisablesKeys(event.currentTarget.checked)}
        />
        <span>Disable their keys, too. Without that, a member whose keys work cannot be removed.</span>
      </label>
    </FormDialog>
  );
}
