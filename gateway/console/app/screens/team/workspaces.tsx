import { useState } from "preact/hooks";
import type { Workspace } from "../../api/types.ts";
import { pageIn, pageParameters, pageSize, useList } from "../../api/use-list.ts";
import { hrefTo } from "../../shell/location.ts";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Icon } from "../../ui/icon.tsx";
import { type Column, Listing } from "../../ui/listing.tsx";
import { Pager } from "../../ui/pager.tsx";
import { Person } from "../../ui/person.tsx";
import { Time } from "../../ui/time.tsx";
import type { ScreenProps } from "../presets.tsx";
import { useDefaultWorkspace } from "./known-workspaces.ts";
import { WorkspaceForm } from "./workspace-form.tsx";
import { WorkspaceMenu } from "./workspace-menu.tsx";

const columns: readonly Column[] = [
  { title: "Workspace" },
  { title: "Description", class: "only-wide" },
  { title: "Created by", class: "column-creator only-wide" },
  { title: "Created", class: "column-when only-wide" },
  { title: "Actions", class: "column-menu", isUntitled: true },
];

export function Workspaces({ workspace, query }: ScreenProps) {
  const [isMaking, setMaking] = useState(false);
  const defaultId = useDefaultWorkspace();
  const page = pageIn(query, "workspaces");
  const { items, total, error, isLoading, reload } = useList<Workspace>(
    `/api/v1/workspaces?${new URLSearchParams(pageParameters(page))}`,
    ["workspace", "workspaces"],
  );
  return (
    <section class="panel" aria-labelledby="workspaces-title">
      <div class="panel-head">
        <h2 id="workspaces-title">Workspaces</h2>
        <button type="button" class="button small" onClick={() => setMaking(true)}>
          <Icon name="plus" /> Create a workspace
        </button>
      </div>
      {error && (
        <div class="panel-body">
          <ErrorPanel error={error} title="The workspaces could not be loaded" retry={reload} />
        </div>
      )}
      {(items || !error) && (
        <Listing caption="Workspaces, the oldest first" columns={columns} isStale={isLoading}>
          {items?.map((each) => (
            <tr key={each.id}>
              <td>
                <div class="two-lines">
                  <span class="name-line">
                    <a class="plain-link cut" href={hrefTo([workspace.slug, "team", each.slug])} title={each.name}>
                      {each.name}
                    </a>
                    {each.id === workspace.id && <span class="badge accent">Open</span>}
                    {each.id === defaultId && <span class="badge">Default</span>}
                  </span>
                  <span class="mono muted cut">{each.slug}</span>
                </div>
              </td>
              <td class="only-wide">
                <div class="cut muted" title={each.description ?? undefined}>
                  {each.description}
                </div>
              </td>
              <td class="only-wide">
                <div class="cut">
                  <Person id={each.created_by} />
                </div>
              </td>
              <td class="only-wide muted">
                <Time at={each.created_at} />
              </td>
              <td class="column-menu">
                <WorkspaceMenu shown={each} isDefault={each.id === defaultId} current={workspace} changed={reload} />
              </td>
            </tr>
          ))}
        </Listing>
      )}
      {total !== undefined && total > pageSize && (
        <div class="panel-foot">
          <Pager
            page={page}
            pageSize={pageSize}
            total={total}
            hrefOf={(to) =>
              hrefTo([workspace.slug, "team"], {
                page: query.get("page") ?? undefined,
                workspaces: to > 1 ? to : undefined,
              })
            }
          />
        </div>
      )}
      {isMaking && <WorkspaceForm current={workspace} close={() => setMaking(false)} changed={reload} />}
    </section>
  );
}
