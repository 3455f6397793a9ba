import type { ComponentChildren } from "preact";
import { session } from "../../api/session.ts";
import { personName } from "../../ui/person.tsx";
import type { Entry } from "./entries.ts";

/** What of something was changed: each field, from what to what. */
export function FieldChanges({ changes }: Pick<Entry, "changes">) {
  if (changes.length === 0) return null;
  return (
    <ul class="field-changes">
      {changes.map(({ field, from, to }) => (
        <li key={field}>
          <span class="muted">{field}:</span> {changeOf(from, to)}
        </li>
      ))}
    </ul>
  );
}

function changeOf(from: unknown, to: unknown): ComponentChildren {
  if (isList(from) || isList(to)) return listChange(isList(from) ? from : [], isList(to) ? to : []);
  if (from === null) return <ins title={shown(to)}>{shown(to)}</ins>;
  return (
    <>
      <del title={shown(from)}>{shown(from)}</del> <span aria-hidden="true">→</span>
      <span class="visually-hidden"> to </span>{" "}
      {to === null ? <span class="muted">none</span> : <ins title={shown(to)}>{shown(to)}</ins>}
    </>
  );
}

/** Of a list, what came and what went. */
function listChange(from: readonly unknown[], to: readonly unknown[]): ComponentChildren {
  const gone = from.filter((each) => !to.includes(each));
  const come = to.filter((each) => !from.includes(each));
  return (
    <span class="list-change">
      {gone.map((each) => (
        <del key={String(each)}>− {shown(each)}</del>
      ))}
      {come.map((each) => (
        <ins key={String(each)}>
          {from.length > 0 && "+ "}
          {shown(each)}
        </ins>
      ))}
    </span>
  );
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** Ids of people and workspaces are shown as their names. */
function shown(value: unknown): string {
  const text = String(value);
  if (/^user_\w+$/.test(text)) return personName(text);
  return session.value?.workspaces.find(({ id }) => id === text)?.name ?? text;
}
