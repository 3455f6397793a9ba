import type { SessionWorkspace } from "../../api/types.ts";
import { hrefTo } from "../../shell/location.ts";
import { compareHref, presetHref } from "../../shell/preset-hrefs.ts";
import { Person } from "../../ui/person.tsx";
import { dayName, timeInDay } from "../../ui/relative-time.ts";
import { nowMs, Time } from "../../ui/time.tsx";
import type { Entry } from "./entries.ts";
import { FieldChanges } from "./field-changes.tsx";

interface EntryListProps {
  /** Undefined until the first response; until then, empty rows are shown. */
  readonly entries: readonly Entry[] | undefined;
  readonly isStale: boolean;
  readonly workspace: SessionWorkspace;
}

const skeletonRows = 8;

/** Grouped by day, so that recent changes stand out and the age of the others is visible without hovering. */
export function EntryList({ entries, isStale, workspace }: EntryListProps) {
  return (
    <div class={`panel activity-table ${entries && isStale ? "is-stale" : ""}`} aria-busy={isStale}>
      {entries ? (
        daysOf(entries).map(([day, ofDay]) => (
          <section key={day} aria-label={day}>
            <h2 class="activity-day">{day}</h2>
            <ol>
              {ofDay.map((entry) => (
                <EntryRow key={entry.id} entry={entry} workspace={workspace} />
              ))}
            </ol>
          </section>
        ))
      ) : (
        <>
          <div class="activity-day">
            <span class="skeleton w-badge" />
          </div>
          <ol>
            {Array.from({ length: skeletonRows }, (_, index) => (
              <li key={index} class="activity-entry">
                <span class="skeleton w-badge" />
                <span class="skeleton w-name" />
              </li>
            ))}
          </ol>
        </>
      )}
    </div>
  );
}

function daysOf(entries: readonly Entry[]): readonly (readonly [day: string, entries: readonly Entry[]])[] {
  const now = nowMs();
  return [...Map.groupBy(entries, ({ created_at }) => dayName(created_at, now))];
}

function EntryRow({ entry, workspace }: { readonly entry: Entry; readonly workspace: SessionWorkspace }) {
  const { target } = entry;
  const [from, to] = entry.versions ?? [];
  return (
    <li class="activity-entry">
      <span class="muted small">
        <Time at={entry.created_at} inWords={timeInDay} />
      </span>
      <div class="two-lines">
        <p class="wrap">
          <strong>
            <Person id={entry.user_id} />
          </strong>{" "}
          {entry.verb}{" "}
          <a class="target" href={hrefOf(entry, workspace)} title={target.name}>
            {target.name}
          </a>
          {from !== undefined && to !== undefined && (
            <>
              {" "}
              <a
                class="small"
                href={compareHref(workspace, target.id, from, to)}
                aria-label={`Compare v${from} of ${target.name} with v${to}`}
              >
                Compare
              </a>
            </>
          )}
        </p>
        <FieldChanges {...entry} />
      </div>
    </li>
  );
}

/** Presets link to their own page; anything else links to its entries here, because it may be deleted. */
function hrefOf({ target }: Entry, workspace: SessionWorkspace): string {
  if (target.kind === "preset") return presetHref(workspace, target.id);
  return hrefTo([workspace.slug, "activity"], { log: "organization", target: target.id });
}
