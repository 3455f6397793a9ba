import type { ComponentChildren } from "preact";
import type { OrganizationChange, SessionWorkspace, WorkspaceChange } from "../../api/types.ts";
import { hrefTo } from "../../shell/location.ts";
import { Person } from "../../ui/person.tsx";
import { Time } from "../../ui/time.tsx";
import { madeVersion, whatChanged } from "../preset/change-list.tsx";
import type { Entry } from "./entries.ts";

interface EntryRowProps {
  readonly entry: Entry;
  readonly workspace: SessionWorkspace;
}

export function EntryRow({ entry, workspace }: EntryRowProps) {
  const { user_id, created_at } = entry.change;
  return (
    <tr>
      <td>
        {entry.log === "presets" ? (
          <PresetEntry change={entry.change} workspace={workspace} />
        ) : (
          <OrganizationEntry change={entry.change} />
        )}
        <span class="only-narrow muted small">
          <Person id={user_id} />
        </span>
      </td>
      <td class="column-person only-wide">
        <div class="cut muted">
          <Person id={user_id} />
        </div>
      </td>
      <td class="column-time muted">
        <Time at={created_at} />
      </td>
    </tr>
  );
}

function PresetEntry({
  change,
  workspace,
}: {
  readonly change: WorkspaceChange;
  readonly workspace: SessionWorkspace;
}) {
  const made = madeVersion(change);
  const { preset_slug: slug, preset_name: name } = change;
  return (
    <div class="two-lines">
      <a class="cut strong" href={hrefTo([workspace.slug, "presets", slug])}>
        {name}
      </a>
      <span class="muted cut">
        {made === undefined ? (
          whatChanged(change)
        ) : made === 1 ? (
          "Created, with v1"
        ) : (
          <>
            New version v{made} ·{" "}
            <a
              href={hrefTo([workspace.slug, "presets", slug, "compare", `${made - 1}...${made}`])}
              aria-label={`Compare v${made - 1} of ${name} with v${made}`}
            >
              Compare with v{made - 1}
            </a>
          </>
        )}
      </span>
    </div>
  );
}

const verbs: Readonly<Record<string, string>> = {
  created: "created",
  updated: "changed",
  rotated: "rotated",
  deleted: "deleted",
  added: "added",
  removed: "removed",
};

function OrganizationEntry({ change }: { readonly change: OrganizationChange }) {
  const { action, target, changes } = change;
  const verb = action.slice(action.lastIndexOf("_") + 1);
  const kind = action.slice(0, action.lastIndexOf("_")).replaceAll("_", " ");
  // What a new thing was made with is not a change.
  const isUpdate = verb === "updated";
  return (
    <div class="two-lines">
      <span class="cut">
        <strong>{target.name}</strong> <span class="badge">{kind}</span>
      </span>
      <span class="muted cut">
        {capitalized(verbs[verb] ?? verb)}
        {isUpdate && changes.length > 0 && <>: {fieldChanges(changes)}</>}
      </span>
    </div>
  );
}

function fieldChanges(changes: OrganizationChange["changes"]): ComponentChildren {
  return changes.map(({ field, from, to }) => `${field} ${shown(from)} → ${shown(to)}`).join("; ");
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return "none";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
