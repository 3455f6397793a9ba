import { useState } from "preact/hooks";
import { nameOf } from "../../api/people.ts";
import { request } from "../../api/request.ts";
import { session } from "../../api/session.ts";
import type { Member } from "../../api/types.ts";
import { showToast } from "../../shell/toasts.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";

interface RemoveMemberProps {
  readonly member: Member;
  readonly close: () => void;
  readonly changed: () => void;
}

/** A member whose keys still work stays, unless the keys are disabled with them: which ones, the refusal says. */
export function RemoveMember({ member, close, changed }: RemoveMemberProps) {
  const [isDisabling, setDisabling] = useState(false);
  const name = nameOf(member);
  const submit = async (): Promise<void> => {
    await request(`/api/v1/organization/members/${member.id}?disable_keys=${isDisabling}`, { method: "DELETE" });
    close();
    showToast(`${name} is no member any more.`);
    changed();
  };
  return (
    <FormDialog title={`Remove ${name}?`} action="Remove the member" isDangerous close={close} submit={submit}>
      {() => (
        <>
          <p class="wrap">
            {member.email} leaves the organization and its workspaces. What they made stays, under their name.
          </p>
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
