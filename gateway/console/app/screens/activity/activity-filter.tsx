import { useEffect, useState } from "preact/hooks";
import { reasonNotTo } from "../../api/session.ts";
import { Field } from "../../ui/field.tsx";
import { listMembers, nameOf, personName } from "../../ui/person.tsx";
import type { Filter } from "./entries.ts";

interface ActivityFilterProps {
  readonly filter: Filter;
  readonly actions: readonly (readonly [action: string, label: string])[];
  /** The ids of those who are on the page: who may not see the members can choose among these. */
  readonly seen: readonly string[];
  readonly change: (part: Partial<Filter>) => void;
}

export function ActivityFilter({ filter, actions, seen, change }: ActivityFilterProps) {
  const [members, setMembers] = useState<readonly (readonly [id: string, name: string])[]>([]);
  useEffect(() => {
    if (reasonNotTo("administer")) return;
    listMembers().then(
      (found) => setMembers(found.map((member) => [member.id, nameOf(member)] as const)),
      () => {},
    );
  }, []);
  // Who has left is in no list, and what they did is still there.
  const people = new Map([...[filter.user, ...seen].map((id) => [id, personName(id)] as const), ...members]);
  people.delete("");
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
            {actions.map(([action, label]) => (
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
            {[...people].map(([id, name]) => (
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
