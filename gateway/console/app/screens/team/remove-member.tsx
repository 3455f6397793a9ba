import { useState } from "preact/hooks";
import { ApiError } from "../../api/api-error.ts";
import { listAll } from "../../api/list-all.ts";
import { listMembers, nameOf } from "../../api/people.ts";
import { request } from "../../api/request.ts";
import { session } from "../../api/session.ts";
import type { Key, Member, SessionWorkspace } from "../../api/types.ts";
import { hrefTo } from "../../shell/location.ts";
import { showToast } from "../../shell/toasts.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { hasExpired } from "../keys/key-state.ts";

interface RemoveMemberProps {
  readonly member: Member;
  readonly close: () => void;
  readonly changed: () => void;
}

interface KeyInPlace {
  readonly key: Key;
  readonly workspace: SessionWorkspace;
}

/** A member whose keys still work stays, unless the keys are disabled with them: a refusal leads to these. */
export function RemoveMember({ member, close, changed }: RemoveMemberProps) {
  const [isDisabling, setDisabling] = useState(false);
  const [working, setWorking] = useState<readonly KeyInPlace[]>([]);
  const name = nameOf(member);
  const submit = async (): Promise<void> => {
    setWorking([]);
    try {
      await request(`/api/v1/organization/members/${member.id}?disable_keys=${isDisabling}`, { method: "DELETE" });
    } catch (refusal) {
      const mayBeForKeys = refusal instanceof ApiError && refusal.status === 409 && !isDisabling;
      if (mayBeForKeys) setWorking(await keysInTheWay(member).catch(() => []));
      throw refusal;
    }
    close();
    showToast(`${name} is no member any more.`);
    changed();
  };
  return (
    <FormDialog
      title={`Remove ${name}?`}
      action="Remove the member"
      isDangerous
      close={close}
      submit={submit}
      explain={() => working.length > 0 && <WorkingKeys name={name} keys={working} />}
    >
      {() => (
        <>
          <p class="wrap">{member.email} leaves the organization and its workspaces. What they made stays.</p>
          <label class="choice">
            <input
              type="checkbox"
              checked={isDisabling}
              onChange={(event) => setDisabling(event.currentTarget.checked)}
            />
            <span>
              Disable their keys, too{" "}
              <span class="choice-meaning">Someone with keys that work cannot be removed without it.</span>
            </span>
          </label>
          {member.id === session.value?.user_id && <p>This is you: with your keys disabled you are signed out.</p>}
        </>
      )}
    </FormDialog>
  );
}

const keysNamedMax = 5;

function WorkingKeys({ name, keys }: { readonly name: string; readonly keys: readonly KeyInPlace[] }) {
  return (
    <>
      <p class="wrap">
        {name} has {keys.length === 1 ? "a key that works" : `${keys.length} keys that work`}. Tick “Disable their keys,
        too”, or see to {keys.length === 1 ? "it" : "them"} first:
      </p>
      <ul>
        {keys.slice(0, keysNamedMax).map(({ key, workspace }) => (
          <li key={key.id} class="wrap">
            <a href={hrefTo([workspace.slug, "keys"])}>{key.name}</a> in {workspace.name}
          </li>
        ))}
        {keys.length > keysNamedMax && <li>and {keys.length - keysNamedMax} more</li>}
      </ul>
    </>
  );
}

/** Why somebody cannot be removed; none where it is because nobody else is an admin. */
async function keysInTheWay(member: Member): Promise<readonly KeyInPlace[]> {
  const members = await listMembers();
  const hasAdmin = members.some(({ id, role }) => id !== member.id && role === "org:admin");
  return hasAdmin ? listWorkingKeys(member) : [];
}

/** The keys of a member that work, wherever they are: the API lists those of one workspace at a time. */
async function listWorkingKeys(member: Member): Promise<readonly KeyInPlace[]> {
  const found: KeyInPlace[] = [];
  for (const workspace of session.value?.workspaces ?? []) {
    const keys = await listAll<Key>("/api/v1/keys", { workspace_id: workspace.id });
    const own = keys.filter((key) => key.creator_user_id === member.id && !key.disabled && !hasExpired(key));
    found.push(...own.map((key) => ({ key, workspace })));
  }
  return found;
}
