import { useEffect } from "preact/hooks";
import { knownMembers, listMembers, nameOf, personName } from "../../api/people.ts";
import { session } from "../../api/session.ts";
import { Field } from "../../ui/field.tsx";

interface OwnerFieldProps {
  readonly value: string;
  readonly change: (userId: string) => void;
  readonly fault: string | undefined;
}

/** Chooses the member that a new key is for: oneself, or a colleague. */
export function OwnerField({ value, change, fault }: OwnerFieldProps) {
  // Colleagues may have joined since the names were loaded.
  useEffect(() => {
    listMembers().catch(() => {});
  }, []);
  const self = session.value?.user_id ?? "";
  const others = knownMembers()
    .filter(({ id }) => id !== self)
    .map((member) => [member.id, nameOf(member), member.email] as const)
    .sort(([, one], [, other]) => one.localeCompare(other));
  return (
    <Field
      label="For"
      hint="What is done with the key is recorded under this name. The key ends when this person leaves."
      fault={fault}
    >
      {(ids) => (
        <select {...ids} class="input" value={value} onChange={(event) => change(event.currentTarget.value)}>
          <option value={self}>{personName(self)} (you)</option>
          {others.map(([id, name, email]) => (
            <option key={id} value={id}>
              {name === email ? name : `${name} (${email})`}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
