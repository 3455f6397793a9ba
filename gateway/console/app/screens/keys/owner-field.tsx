import { useEffect, useState } from "preact/hooks";
import { listedMax } from "../../api/list-all.ts";
import { areMembersCutShort, knownMembers, listMembers, nameOf, personName } from "../../api/people.ts";
import { session } from "../../api/session.ts";
import { Field, TextField } from "../../ui/field.tsx";

interface OwnerFieldProps {
  readonly value: string;
  readonly change: (userId: string) => void;
  readonly fault: string | undefined;
}

/** Chooses the member that a new key is for: oneself, or a colleague. One who is not listed is named by id. */
export function OwnerField({ value, change, fault }: OwnerFieldProps) {
  // Colleagues may have joined since the names were loaded.
  useEffect(() => {
    listMembers().catch(() => {});
  }, []);
  const [isUnlisted, setUnlisted] = useState(false);
  const self = session.value?.user_id ?? "";
  const isCutShort = areMembersCutShort();
  const others = knownMembers()
    .filter(({ id }) => id !== self)
    .map((member) => [member.id, nameOf(member), member.email] as const)
    .sort(([, one], [, other]) => one.localeCompare(other));
  return (
    <>
      <Field
        label="For"
        hint={
          <>
            What is done with the key is recorded under this name. The key ends when this person leaves.
            {isCutShort && <> Only the first {listedMax.toLocaleString("en")} members are offered.</>}
          </>
        }
        fault={isUnlisted ? undefined : fault}
      >
        {(ids) => (
          <select
            {...ids}
            class="input"
            value={isUnlisted ? "" : value}
            onChange={({ currentTarget: { value: userId } }) => {
              setUnlisted(userId === "");
              change(userId);
            }}
          >
            <option value={self}>{personName(self)} (you)</option>
            {(isCutShort || isUnlisted) && <option value="">Somebody else, by user id</option>}
            {others.map(([id, name, email]) => (
              <option key={id} value={id}>
                {name === email ? name : `${name} (${email})`}
              </option>
            ))}
          </select>
        )}
      </Field>
      {isUnlisted && (
        <TextField
          label="User id"
          hint="It can be copied from the member’s menu, under Team."
          fault={fault}
          value={value}
          change={(text) => change(text.trim())}
          maxLength={255}
          isRequired
        />
      )}
    </>
  );
}
