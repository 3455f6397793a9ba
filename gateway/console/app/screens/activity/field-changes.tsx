import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { personName } from "../../api/people.ts";
import { session } from "../../api/session.ts";
import type { Entry } from "./entries.ts";

/** A hundred members may come into a workspace at once. */
const changesAtFirst = 8;

/** What of something was changed: each field, from what to what. */
export function FieldChanges({ changes, isNew = false }: Pick<Entry, "changes" | "isNew">) {
  const [isWhole, setWhole] = useState(changes.length <= changesAtFirst + 1);
  if (changes.length === 0) return null;
  return (
    <ul class={`field-changes ${isNew ? "is-new" : ""}`}>
      {changes.slice(0, isWhole ? undefined : changesAtFirst).map(({ field, from, to }, index) => (
        <li key={index}>
          <span class="muted">{labelOf(field)}:</span> {changeOf(from, to, (value) => shown(field, value))}
        </li>
      ))}
      {!isWhole && (
        <li>
          <button type="button" class="text-button" onClick={() => setWhole(true)}>
            {changes.length - changesAtFirst} more
          </button>
        </li>
      )}
    </ul>
  );
}

const labels: Readonly<Record<string, string>> = {
  designated_version: "serves",
  disabled: "state",
  expires_at: "expires",
  previous_expires_at: "old secret works until",
};

/** What people call a field of the API: `creator_user_id` is the creator. */
function labelOf(field: string): string {
  return labels[field] ?? field.replace(/(_user)?_id$/, "").replaceAll("_", " ");
}

function changeOf(from: unknown, to: unknown, write: (value: unknown) => string): ComponentChildren {
  if (isList(from) || isList(to)) return listChange(isList(from) ? from : [], isList(to) ? to : []);
  if (from === null) return <ins title={write(to)}>{write(to)}</ins>;
  return (
    <>
      <del title={write(from)}>{write(from)}</del> <span aria-hidden="true">→</span>
      <span class="visually-hidden"> to </span>{" "}
      {to === null ? <span class="muted">none</span> : <ins title={write(to)}>{write(to)}</ins>}
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
        <del key={String(each)}>− {String(each)}</del>
      ))}
      {come.map((each) => (
        <ins key={String(each)}>
          {from.length > 0 && "+ "}
          {String(each)}
        </ins>
      ))}
    </span>
  );
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

const moments = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

/** A value as people say it: ids of people and workspaces are shown as their names. */
function shown(field: string, value: unknown): string {
  const text = String(value);
  if (field === "disabled") return value ? "disabled" : "enabled";
  if (field === "designated_version") return `v${text}`;
  if (field.endsWith("expires_at")) return moments.format(new Date(text));
  if (field === "kind") return text === "api" ? "API key" : "management key";
  if (field === "role") return text === "org:admin" ? "Admin" : "Member";
  if (/^user_\w+$/.test(text)) return personName(text);
  return session.value?.workspaces.find(({ id }) => id === text)?.name ?? text;
}
