import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { personName } from "../../api/people.ts";
import { session } from "../../api/session.ts";
import type { Member } from "../../api/types.ts";
import { roleNames } from "../team/role-names.ts";
import type { Entry } from "./entries.ts";

/** The changed fields, each with its old and new value. */
export function FieldChanges({ changes, isNew }: Pick<Entry, "changes" | "isNew">) {
  if (changes.length === 0) return null;
  return (
    <ul class={`field-changes ${isNew ? "is-new" : ""}`}>
      {changes.map(({ field, from, to }) => (
        <li key={field}>
          <span class="muted">{labelOf(field)}:</span>{" "}
          {isList(from) || isList(to) ? (
            <ListChange field={field} from={isList(from) ? from : []} to={isList(to) ? to : []} />
          ) : (
            changeOf(isNew ? undefined : shown(field, from), shown(field, to))
          )}
        </li>
      ))}
    </ul>
  );
}

const labels: Readonly<Record<string, string>> = {
  designated_version: "serves",
  disabled: "state",
  expires_at: "expires",
  previous_expires_at: "old secret works until",
};

/** The everyday name of an API field: `creator_user_id` is the creator. */
function labelOf(field: string): string {
  return labels[field] ?? field.replace(/(_user)?_id$/, "").replaceAll("_", " ");
}

function changeOf(from: string | undefined, to: string | undefined): ComponentChildren {
  if (from === undefined) return <ins title={to}>{to}</ins>;
  return (
    <>
      <del title={from}>{from}</del> <span aria-hidden="true">→</span>
      <span class="visually-hidden"> to </span>{" "}
      {to === undefined ? <span class="muted">none</span> : <ins title={to}>{to}</ins>}
    </>
  );
}

interface ListChangeProps {
  readonly field: string;
  readonly from: readonly unknown[];
  readonly to: readonly unknown[];
}

/** A hundred members may be added to a workspace at once. */
const itemsAtFirst = 8;

/** The items that were added to and removed from a list. */
function ListChange({ field, from, to }: ListChangeProps) {
  const removed = from.filter((each) => !to.includes(each));
  const added = to.filter((each) => !from.includes(each));
  const items = [
    ...removed.map((each) => <del key={each}>− {shown(field, each)}</del>),
    ...added.map((each) => (
      <ins key={each}>
        {from.length > 0 && "+ "}
        {shown(field, each)}
      </ins>
    )),
  ];
  const [isWhole, setWhole] = useState(items.length <= itemsAtFirst + 1);
  return (
    <>
      {items
        .slice(0, isWhole ? undefined : itemsAtFirst)
        .flatMap((item, index) => (index === 0 ? [item] : [", ", item]))}
      {!isWhole && (
        <>
          {" and "}
          <button type="button" class="text-button" onClick={() => setWhole(true)}>
            {items.length - itemsAtFirst} more
          </button>
        </>
      )}
    </>
  );
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

const moments = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

/** A value in words, with the names of people and workspaces in place of their ids. Undefined if there is none. */
function shown(field: string, value: unknown): string | undefined {
  if (value === null) return field === "expires_at" ? "never" : undefined;
  const text = String(value);
  if (field === "disabled") return value ? "disabled" : "enabled";
  if (field === "designated_version") return `v${text}`;
  if (field.endsWith("expires_at")) return moments.format(new Date(text));
  if (field === "kind") return text === "api" ? "API key" : "management key";
  if (field === "role") return roleNames[text as Member["role"]] ?? text;
  if (/^user_\w+$/.test(text)) return personName(text);
  return session.value?.workspaces.find(({ id }) => id === text)?.name ?? text;
}
