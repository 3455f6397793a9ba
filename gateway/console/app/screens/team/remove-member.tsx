import { useState } from "preact/hooks";
import { ApiError } from "../../api/api-error.ts";
import { useIdempotencyKey } from "../../api/idempotency-key.ts";
import { listMembers, nameOf } from "../../api/people.ts";
import { request } from "../../api/request.ts";
import { session } from "../../api/session.ts";
import type { Member } from "../../api/types.ts";
import { showToast } from "../../shell/toasts.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { type KeyInWorkspace, listWorkingKeys, WorkingKeys } from "./working-keys.tsx";

interface RemoveMemberProps {
  readonly member: Member;
  readonly close: () => void;
  readonly changed: () => void;
}

/**
 * A member with working keys cannot be removed unless the keys are disabled as well. If the API refuses, these keys are
 * listed.
 */
export function RemoveMember({ member, close, changed }: RemoveMemberProps) {
  const [isDisabling, setDisabling] = useState(false);
  const [working, setWorking] = useState<readonly KeyInWorkspace[]>([]);
  const idempotencyKeyOf = useIdempotencyKey();
  const name = nameOf(member);
  const submit = async (): Promise<void> => {
    setWorking([]);
    try {
      const path = `/api/v1/organization/members/${member.id}?disable_keys=${isDisabling}`;
      await request(path, { method: "DELETE", headers: idempotencyKeyOf({ path }) });
    } catch (refusal) {
      const mayBeForKeys = refusal instanceof ApiError && refusal.status === 409 && !isDisabling;
      if (mayBeForKeys) setWorking(await blockingKeys(member).catch(() => []));
      throw refusal;
    }
    close();
    showToast(`${name} is no longer a member.`);
    changed();
  };
  return (
    <FormDialog
      title={`Remove ${name}?`}
      action="Remove the member"
      isDangerous
      close={close}
      submit={submit}
      explain={() =>
        working.length > 0 && (
          <WorkingKeys keys={working} owner={name}>
            Tick “Disable their keys, too”, or disable or delete {working.length === 1 ? "it" : "them"} first:
          </WorkingKeys>
        )
      }
    >
      {() => (
        <>
          <p class="wrap">
            {member.email} will be removed from the organization and its workspaces. What they made is kept.
          </p>
          <label class="choice">
            <input
              type="checkbox"
              checked={isDisabling}
              onChange={(event) => setDisabling(event.currentTarget.checked)}
            />
            <span>
              Disable their keys, too{" "}
              <span class="choice-meaning">Someone with working keys cannot be removed without this.</span>
            </span>
          </label>
          {member.id === session.value?.user_id && <p>This is you: with your keys disabled you are signed out.</p>}
        </>
      )}
    </FormDialog>
  );
}

/** The keys that prevent a removal; none if the reason is that nobody else is an admin. */
async function blockingKeys(member: Member): Promise<readonly KeyInWorkspace[]> {
  const members = await listMembers();
  const hasAdmin = members.some(({ id, role }) => id !== member.id && role === "org:admin");
  return hasAdmin ? listWorkingKeys(session.value?.workspaces ?? [], member.id) : [];
}
