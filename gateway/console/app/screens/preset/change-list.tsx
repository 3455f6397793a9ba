import type { ComponentChildren } from "preact";
import type { PresetChange, PresetStatus, SessionWorkspace } from "../../api/types.ts";
import { compareHref, presetHref } from "../../shell/preset-hrefs.ts";
import { ByLine } from "../../ui/by-line.tsx";
import { capitalized } from "../../ui/capitalized.ts";
import { ServedBadge } from "./served-badge.tsx";
import { statusVerb } from "./status-words.ts";
import type { ChangedFields } from "./use-changed-fields.ts";

interface ChangeListProps {
  readonly changes: readonly PresetChange[];
  readonly workspace: SessionWorkspace;
  readonly slug: string;
  readonly isOff?: boolean;
  readonly served?: number | undefined;
  readonly shown?: number | undefined;
  /** The fields that each version changed, as far as they are known; undefined if they are not to be shown. */
  readonly changedFields?: ChangedFields;
}

/** Who changed what in a preset, and when; newest first. */
export function ChangeList(props: ChangeListProps) {
  const { changes, workspace, slug, isOff = false, served, shown, changedFields } = props;
  return (
    <ol class="change-list">
      {changes.map((change) => {
        const created = createdVersion(change);
        return (
          <li
            key={change.revision}
            class="change"
            data-shown={created !== undefined && created === shown ? "" : undefined}
          >
            <div class="row">
              {created === undefined ? (
                <span class="change-words">{whatChanged(change)}</span>
              ) : (
                <a
                  class="version-link"
                  href={presetHref(workspace, slug, { v: created })}
                  aria-current={created === shown ? "true" : undefined}
                  title={changedFields?.get(created)}
                >
                  v{created}
                </a>
              )}
              {created !== undefined && created === served && <ServedBadge isOff={isOff} />}
              {created !== undefined && created > 1 && (
                <a
                  class="change-compare"
                  href={compareHref(workspace, slug, created - 1, created)}
                  aria-label={`Compare v${created - 1} with v${created}`}
                >
                  Compare
                </a>
              )}
            </div>
            {changedFields && created !== undefined && created > 1 && (
              <p class="small cut changed-fields">{changedFields.get(created)}</p>
            )}
            <ByLine id={change.user_id} at={change.created_at} />
          </li>
        );
      })}
    </ol>
  );
}

/** The number of the version that a change created; undefined if it created none. */
export function createdVersion({ action, changes }: PresetChange): number | undefined {
  if (action === "preset_updated") return undefined;
  const to = changes.find(({ field }) => field === "designated_version")?.to;
  return typeof to === "number" ? to : undefined;
}

/** What an update did, in words. */
function whatChanged({ changes }: Pick<PresetChange, "changes">): ComponentChildren {
  return changes.map(({ field, from, to }, index) => {
    const lead = index === 0 ? "" : "; ";
    const began = (words: string): string => (index === 0 ? capitalized(words) : words);
    if (field === "designated_version")
      return `${lead}${began(Number(to) < Number(from) ? "rolled back" : "rolled forward")} v${from} → v${to}`;
    if (field === "status") return lead + began(statusVerb(from as PresetStatus, to as PresetStatus));
    if (field === "name")
      return (
        <>
          {lead}
          {began("renamed to")} “<bdi>{to}</bdi>”
        </>
      );
    return lead + began(to === null ? "description removed" : "description changed");
  });
}
