import { reasonNotTo } from "../api/session.ts";
import type { Member } from "../api/types.ts";
import { pageIn, pageParameters, useList } from "../api/use-list.ts";
import { Page } from "../shell/page.tsx";
import { NotYours } from "../ui/not-yours.tsx";
import type { ScreenProps } from "./screen-props.ts";
import { Members } from "./team/members.tsx";
import { Workspaces } from "./team/workspaces.tsx";

/** The members of the organization, and its workspaces. */
export function Team({ workspace, query }: ScreenProps) {
  const reason = reasonNotTo("administer");
  const path = `/api/v1/organization/members?${new URLSearchParams(pageParameters(pageIn(query)))}`;
  const members = useList<Member>(reason ? undefined : path, ["member", "members"]);
  return (
    <Page
      title="Team"
      actions={
        // Below a long list, nobody would look for the workspaces.
        members.total !== undefined &&
        members.total > 10 && (
          <a class="button" href="#workspaces-title">
            Workspaces
          </a>
        )
      }
    >
      {reason ? (
        <NotYours reason={reason} actions={["Add a member", "Create a workspace"]} />
      ) : (
        <>
          <Members list={members} workspace={workspace} query={query} />
          {/* Only once the list above has its final height, so that nothing moves. */}
          {(members.items || members.error) && <Workspaces workspace={workspace} query={query} />}
        </>
      )}
    </Page>
  );
}
