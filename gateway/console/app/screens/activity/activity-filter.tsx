import { useEffect } from "preact/hooks";
import { knownMembers, listMembers, nameOf, personName } from "../../api/people.ts";
import { reasonForbidden } from "../../api/session.ts";
import { Field } from "../../ui/field.tsx";
import type { Filter } from "./entries.ts";

interface ActivityFilterProps {
  readonly filter: Filter;
  readonly actions: readonly (readonly [action: string, label: string])[];
  /** The ids of the users on the page: without access to the members, one can choose among these. */
  readonly seen: readonly string[];
  readonly change: (part: Partial<Filter>) => void;
}

export function ActivityFilter({ filter, actions, seen, change }: ActivityFilterProps) {
  // Colleagues may have joined since the names were loaded.
  useEffect(() => {
    if (!reasonForbidden("administer")) listMembers().catch(() => {});
  }, []);
  // People who have left are in no list of members, but their changes are still in the log.
  const people = new Map([
    ...[filter.user, ...seen].map((id) => [id, personName(id)] as const),
    ...knownMembers().map((member) => [member.id, nameOf(member)] as const),
  ]);
  people.delete("");
  return (
    <div class="activity-filter">
      <Choice
        label="What"
        all="Everything"
        value={filter.action}
        choices={actions}
        choose={(action) => change({ action })}
      />
      <Choice
        label="Who"
        all="Everybody"
        value={filter.user}
        choices={[...people].sort(([, one], [, other]) => one.localeCompare(other))}
        choose={(user) => change({ user })}
      />
      <Field label="Until">
        {(ids) => (
          <input
            {...ids}
            type="date"
            class="input"
            // While a year is typed, its first digits are a year, too.
            min="2000-01-01"
            value={filter.until}
            onChange={({ currentTarget }) => currentTarget.checkValidity() && change({ until: currentTarget.value })}
          />
        )}
      </Field>
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  /** The label for no choice. */
  readonly all: string;
  readonly value: string;
  readonly choices: readonly (readonly [value: string, label: string])[];
  readonly choose: (value: string) => void;
}

function Choice({ label, all, value, choices, choose }: ChoiceProps) {
  return (
    <Field label={label}>
      {(ids) => (
        <select {...ids} class="input" value={value} onChange={(event) => choose(event.currentTarget.value)}>
          <option value="">{all}</option>
          {choices.map(([each, name]) => (
            <option key={each} value={each}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
