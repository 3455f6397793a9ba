import { useState } from "preact/hooks";
import type { Workspace } from "../../api/types.ts";
import { pageIn, pageParameters, useList } from "../../api/use-list.ts";
import { hrefTo } from "../../shell/location.ts";
import { ListPanel } from "../../ui/list-panel.tsx";
import type { Column } from "../../ui/listing.tsx";
import { Person } from "../../ui/person.tsx";
import { Time } from "../../ui/time.tsx";
import type { ScreenProps } from "../screen-props.ts";
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
  const list = useList<Workspace>(`/api/v1/workspaces?${new URLSearchParams(pageParameters(page))}`, [
    "workspace",
    "workspaces",
  ]);
  return (
    <ListPanel
      title="Workspaces"
      caption="Workspaces, the oldest first"
      columns={columns}
      list={list}
      add={["Create a workspace", () => setMaking(true)]}
      page={page}
      hrefOf={(to) =>
        hrefTo([workspace.slug, "team"], {
          q: query.get("q") ?? undefined,
          page: query.get("page") ?? undefined,
          workspaces: to > 1 ? to : undefined,
        })
      }
      row={(each) => (
        <tr key={each.id}>
          <td>
            <div class="two-lines">
              <span class="name-line">
                <a class="plain-link cut" href={hrefTo([workspace.slug, "team", each.slug])} title={each.name}>
                  {each.name}
                </a>
                {each.id === workspace.id && <span class="badge accent">Current</span>}
                {each.id === defaultId && <span class="badge">Default</span>}
              </span>
              <span class="mono muted cut">{each.slug}</span>
            </div>
          </td>
          <td class="only-wide">
            <div class="clamp muted" title={each.description ?? undefined}>
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
            <WorkspaceMenu shown={each} isDefault={each.id === defaultId} current={workspace} changed={list.reload} />
          </td>
        </tr>
      )}
    >
      {isMaking && <WorkspaceForm current={workspace} close={() => setMaking(false)} changed={list.reload} />}
    </ListPanel>
  );
}
