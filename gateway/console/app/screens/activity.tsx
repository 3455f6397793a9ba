import { inWorkspace, reasonNotTo } from "../api/session.ts";
import type { Page as ListPage, OrganizationChange, WorkspaceChange } from "../api/types.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { hrefTo } from "../shell/location.ts";
import { Page } from "../shell/page.tsx";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { Icon } from "../ui/icon.tsx";
import { SkeletonRows } from "../ui/skeleton-rows.tsx";
import { mergeLogs } from "./activity/entries.ts";
import { EntryRow } from "./activity/entry-row.tsx";
import type { ScreenProps } from "./presets.tsx";

const pageSize = 50;

const logs = [
  ["", "All"],
  ["presets", "Presets"],
  ["organization", "Keys, members, workspaces"],
] as const;

/** Who changed what: the presets of the workspace, and what belongs to the organization. */
export function Activity({ workspace, query }: ScreenProps) {
  const reason = reasonNotTo("administer");
  const log = query.get("log") ?? "";
  const presetsFrom = offsetIn(query, "presets");
  const organizationFrom = offsetIn(query, "organization");
  const presets = useLoaded<ListPage<WorkspaceChange>>(
    log === "organization"
      ? undefined
      : inWorkspace(`/api/v1/changes?limit=${pageSize}&offset=${presetsFrom}`, workspace),
  );
  const organization = useLoaded<ListPage<OrganizationChange>>(
    log === "presets" || reason !== undefined
      ? undefined
      : `/api/v1/organization/changes?limit=${pageSize}&offset=${organizationFrom}`,
  );

  const error = presets.error ?? organization.error;
  const isLoading = presets.isLoading || organization.isLoading;
  const isReady = !isLoading || presets.answer || organization.answer;
  const { entries, presetsUsed, organizationUsed } = mergeLogs(
    (log !== "organization" && presets.answer?.json.data) || [],
    (log !== "presets" && organization.answer?.json.data) || [],
    pageSize,
  );
  const next = { presets: presetsFrom + presetsUsed, organization: organizationFrom + organizationUsed };
  const hasMore =
    (log !== "organization" && next.presets < (presets.answer?.json.total_count ?? 0)) ||
    (log !== "presets" && next.organization < (organization.answer?.json.total_count ?? 0));
  const isFirst = presetsFrom === 0 && organizationFrom === 0;
  const hrefOf = (part: Record<string, string | number | undefined>): string =>
    hrefTo([workspace.slug, "activity"], part);

  return (
    <Page title="Activity">
      <nav class="chips" aria-label="Log">
        {logs.map(([value, label]) => (
          <a key={value} class="chip" href={hrefOf({ log: value })} aria-current={log === value ? "true" : undefined}>
            {label}
          </a>
        ))}
      </nav>
      {error && (
        <ErrorPanel
          error={error}
          title="The changes could not be loaded"
          retry={() => {
            presets.reload();
            organization.reload();
          }}
        />
      )}
      {reason !== undefined && log === "organization" ? (
        <div class="panel empty">
          <h2>Not with this key</h2>
          <p>{reason}</p>
        </div>
      ) : isReady && entries.length === 0 && !error ? (
        <div class="panel empty">
          <h2>Nothing yet</h2>
          <p>What is changed from now on is listed here.</p>
        </div>
      ) : (
        (entries.length > 0 || !error) && (
          <div class={`panel ${entries.length > 0 && isLoading ? "is-stale" : ""}`} aria-busy={isLoading}>
            <table class="table activity-table">
              <caption class="visually-hidden">Changes, the newest first</caption>
              <thead>
                <tr>
                  <th scope="col">What</th>
                  <th scope="col" class="column-person only-wide">
                    Who
                  </th>
                  <th scope="col" class="column-time">
                    When
                  </th>
                </tr>
              </thead>
              <tbody>
                {entries.length > 0 ? (
                  entries.map((entry) => <EntryRow key={keyOf(entry.change)} entry={entry} workspace={workspace} />)
                ) : (
                  <SkeletonRows rows={12} columns={3} />
                )}
              </tbody>
            </table>
          </div>
        )
      )}
      {entries.length > 0 && (
        <nav class="pager" aria-label="Pages">
          {isFirst ? (
            <span />
          ) : (
            <a class="button small" href={hrefOf({ log })}>
              <Icon name="back" /> Newest
            </a>
          )}
          {hasMore && (
            <a
              class="button small"
              href={hrefOf({ log, presets: next.presets || undefined, organization: next.organization || undefined })}
              rel="next"
            >
              Older <Icon name="next" />
            </a>
          )}
        </nav>
      )}
    </Page>
  );
}

function offsetIn(query: URLSearchParams, name: string): number {
  return Math.max(0, Number.parseInt(query.get(name) ?? "0", 10) || 0);
}

function keyOf(change: WorkspaceChange | OrganizationChange): string {
  return "preset_id" in change ? `${change.preset_id} ${change.revision}` : change.id;
}
