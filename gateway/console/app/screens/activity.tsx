import { areNamesLoading } from "../api/people.ts";
import { reasonForbidden } from "../api/session.ts";
import type { SessionWorkspace } from "../api/types.ts";
import type { Loading } from "../api/use-loading.ts";
import { useAnnouncedTotal } from "../shell/announcer.tsx";
import { hrefTo, navigate } from "../shell/location.ts";
import { Page } from "../shell/page.tsx";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { Icon } from "../ui/icon.tsx";
import { ActivityFilter } from "./activity/activity-filter.tsx";
import { actionsOf, type Entry, type Filter, type LogName, matchingLogs } from "./activity/entries.ts";
import { EntryList } from "./activity/entry-list.tsx";
import { type MergedPage, type Position, positionFrom } from "./activity/merged-log.ts";
import { activityPageSize, useActivity } from "./activity/use-activity.ts";
import type { ScreenProps } from "./screen-props.ts";

const chips = [
  ["", "All"],
  ["presets", "Presets"],
  ["organization", "Keys, members, workspaces"],
] as const;

const bothLogs: readonly LogName[] = ["organization", "presets"];

/** Who changed what: in the presets of the workspace, and in the organization. */
export function Activity({ workspace, query }: ScreenProps) {
  const reason = reasonForbidden("administer");
  const log = query.get("log") ?? "";
  const allowed = bothLogs.filter((name) => name === "presets" || !reason);
  // Empty if the address asks only for a log that this key may not read.
  const names = allowed.filter((name) => log === name || !bothLogs.some((each) => each === log));
  const actions = actionsOf(names);
  const action = query.get("action") ?? "";
  const filter: Filter = {
    action: actions.some(([known]) => known === action) ? action : "",
    user: query.get("user") ?? "",
    // Presets are not a target here: each has a page of its own with its changes.
    target: (names.includes("organization") && query.get("target")) || "",
    until: query.get("until") ?? "",
  };
  const logs = matchingLogs(names, filter, workspace);
  const loading = useActivity(logs, filter.until, positionFrom(query.get("at"), logs.length));
  const entries = loading.value?.entries ?? [];
  useAnnouncedTotal(loading.value?.total, loading.isLoading, "change", "changes");

  const hrefWith = (part: Partial<Filter>, at?: Position): string =>
    hrefTo([workspace.slug, "activity"], {
      log: query.get("log") ?? undefined,
      ...filter,
      ...part,
      at: at?.join("."),
    });
  return (
    <Page title="Activity">
      <div class="toolbar">
        <nav class="chips" aria-label="Log">
          {chips.map(([value, label]) => (
            <a
              key={value}
              class="chip"
              href={hrefTo([workspace.slug, "activity"], { log: value, user: filter.user, until: filter.until })}
              aria-current={log === value ? "true" : undefined}
            >
              {label}
            </a>
          ))}
        </nav>
        {names.length > 0 && (
          <ActivityFilter
            filter={filter}
            actions={actions}
            seen={entries.flatMap(({ user_id }) => user_id ?? [])}
            change={(part) => navigate(hrefWith(part))}
          />
        )}
      </div>
      {reason && log !== "presets" && (
        <p class="muted">Changes to keys, members and workspaces are not shown. {reason}</p>
      )}
      {filter.target !== "" && (
        <p class="row">
          <span class="wrap">
            Only changes to{" "}
            <strong>{entries.find(({ target }) => target.id === filter.target)?.target.name ?? filter.target}</strong>
          </span>
          <a class="button small" href={hrefWith({ target: "" })}>
            Show everything
          </a>
        </p>
      )}
      {names.length > 0 && (
        <ActivityPage
          {...loading}
          // Each entry begins with a name. If that came later, everything below would move.
          value={areNamesLoading() ? undefined : loading.value}
          workspace={workspace}
          filter={filter}
          hrefWith={hrefWith}
        />
      )}
    </Page>
  );
}

interface ActivityPageProps extends Loading<MergedPage<Entry>> {
  readonly workspace: SessionWorkspace;
  readonly filter: Filter;
  readonly hrefWith: (part: Partial<Filter>, at?: Position) => string;
}

function ActivityPage({ value: page, error, isLoading, reload, workspace, filter, hrefWith }: ActivityPageProps) {
  const isFiltered = Object.values(filter).some((each) => each !== "");
  return (
    <>
      {error && <ErrorPanel error={error} title="The changes could not be loaded" retry={reload} />}
      {page?.total === 0 ? (
        <div class="panel empty">
          <h2>No changes</h2>
          <p>{isFiltered ? "No change matches this filter." : "Changes will be listed here."}</p>
          {isFiltered && (
            <a class="button" href={hrefWith({ action: "", user: "", target: "", until: "" })}>
              Show everything
            </a>
          )}
        </div>
      ) : (
        (page || !error) && <EntryList entries={page?.entries} isStale={isLoading} workspace={workspace} />
      )}
      {page && page.total > 0 && (
        <nav class="pager" aria-label="Pages">
          <span>
            {(page.newerCount + 1).toLocaleString("en")}–{(page.newerCount + page.entries.length).toLocaleString("en")}{" "}
            of {page.total.toLocaleString("en")}, newest first
          </span>
          <span class="row">
            {page.newer && (
              <a class="button small" href={hrefWith({}, page.newer === "newest" ? undefined : page.newer)} rel="prev">
                <Icon name="back" /> {page.newerCount <= activityPageSize ? "Newest" : "Newer"}
              </a>
            )}
            {page.older && (
              <a class="button small" href={hrefWith({}, page.older)} rel="next">
                Older <Icon name="next" />
              </a>
            )}
          </span>
        </nav>
      )}
    </>
  );
}
