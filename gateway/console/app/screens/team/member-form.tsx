import { useState } from "preact/hooks";
import { emailLengthMax, nameLengthMax } from "../../../../../services/platform/domain/limits.ts";
import { useIdempotencyKey } from "../../api/idempotency-key.ts";
import { nameOf } from "../../api/people.ts";
import { request } from "../../api/request.ts";
import type { Member } from "../../api/types.ts";
import { showToast } from "../../shell/toasts.tsx";
import { Field, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { useOwnChanges } from "../../ui/use-own-changes.ts";
import { roleNames } from "./role-names.ts";

interface MemberFormProps {
  /** Absent for a new member. */
  readonly member?: Member;
  /** Why the role cannot be changed. */
  readonly reason?: string | undefined;
  readonly close: () => void;
  readonly changed: () => void;
}

export function MemberForm({ member, reason, close, changed }: MemberFormProps) {
  const [email, setEmail] = useState(member?.email ?? "");
  const [firstName, setFirstName] = useState(member?.first_name ?? "");
  const [lastName, setLastName] = useState(member?.last_name ?? "");
  const [role, setRole] = useState<Member["role"]>(member?.role ?? "org:member");
  const changesIn = useOwnChanges(member);
  const idempotencyKeyOf = useIdempotencyKey();

  const submit = async (): Promise<void> => {
    const fields = { first_name: firstName.trim() || null, last_name: lastName.trim() || null, role };
    if (member) await update(member, changesIn(fields));
    else {
      const body = { email: email.trim(), ...fields };
      await request("/api/v1/organization/members", { method: "POST", body, headers: idempotencyKeyOf(body) });
      showToast(`${email.trim()} is a member.`);
      changed();
    }
    close();
  };
  const update = async ({ id, email: address }: Member, body: Partial<Member>): Promise<void> => {
    if (Object.keys(body).length === 0) return;
    await request(`/api/v1/organization/members/${id}`, { method: "PATCH", body });
    showToast(`${address} is changed.`);
    changed();
  };
  return (
    <FormDialog
      title={member ? `Edit ${nameOf(member)}` : "Add a member"}
      action={member ? "Save" : "Add member"}
      close={close}
      submit={submit}
    >
      {(faultOf) => (
        <>
          {!member && (
            <TextField
              label="E-mail address"
              hint="No mail is sent. This address identifies the member."
              fault={faultOf("email")}
              value={email}
              change={setEmail}
              maxLength={emailLengthMax}
              inputMode="email"
              isRequired
            />
          )}
          <TextField
            label="First name"
            hint="Optional."
            fault={faultOf("first_name")}
            value={firstName}
            change={setFirstName}
            maxLength={nameLengthMax}
          />
          <TextField
            label="Last name"
            hint="Optional."
            fault={faultOf("last_name")}
            value={lastName}
            change={setLastName}
            maxLength={nameLengthMax}
          />
          <Field
            label="Role"
            hint={reason ?? "Tells who administers the organization. What somebody may do depends on their keys."}
            fault={faultOf("role")}
          >
            {(ids) => (
              <select
                {...ids}
                class="input"
                value={role}
                disabled={reason !== undefined}
                onChange={(event) => setRole(event.currentTarget.value as Member["role"])}
              >
                {Object.entries(roleNames).map(([value, name]) => (
                  <option key={value} value={value}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </>
      )}
    </FormDialog>
  );
}
