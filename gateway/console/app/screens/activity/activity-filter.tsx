import { useEffect, useState } from "preact/hooks";
import { Field } from "../../ui/field.tsx";
import { listMembers, nameOf, personName } from "../../ui/person.tsx";
import { actions } from "./entries.ts";

export interface Filter {
  readonly action: string;
  readonly user: string;
  readonly target: string;
}

interface ActivityFilterProps {
  readonly filter: Filter;
  readonly change: (part: Partial<Filter>) => void;
}

export function ActivityFilter({ filter, change }: ActivityFilterProps) {
  const [people, setPeople] = useState<readonly (readonly [id: string, name: string])[]>([]);
  useEffect(() => {
    // Without it, nobody can be chosen but who is chosen already.
    listMembers().then(
      (members) => setPeople(members.map((member) => [member.id, nameOf(member)] as const)),
      () => {},
    );
  }, []);
  const isKnown = filter.user === "" || people.some(([id]) => id === filter.user);
  return (
    <div class="activity-filter">
      <Field label="What">
        {(ids) => (
          <select
            {...ids}
            class="input"
            value={filter.action}
            onChange={(event) => change({ action: event.currentTarget.value })}
          >
            <option value="">Everything</option>
            {Object.entries(actions).map(([action, [, label]]) => (
              <option key={action} value={action}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Who">
        {(ids) => (
          <select
            {...ids}
            class="input"
            value={filter.user}
            onChange={(event) => change({ user: event.currentTarget.value })}
          >
            <option value="">Everybody</option>
            {/* Who has left is in no list, and what they did is still there. */}
            {!isKnown && <option value={filter.user}>{personName(filter.user)}</option>}
            {people.map(([id, name]) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
    </div>
  );
}
