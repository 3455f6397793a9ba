import { reasonNotTo } from "../api/session.ts";
import type { Page as ListPage, Member } from "../api/types.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { Page } from "../shell/page.tsx";
import { ManagementOnly } from "../ui/management-only.tsx";
import type { ScreenProps } from "./presets.tsx";
import { Members, membersPath } from "./team/members.tsx";
import { Workspaces } from "./team/workspaces.tsx";

/** Who belongs to the organization, and its workspaces. */
export function Team({ query, workspace }: ScreenProps) {
  const reason = reasonNotTo("administer");
  const page = Math.max(1, Number.parseInt(query.get("page") ?? "1", 10) || 1);
  const members = useLoaded<ListPage<Member>>(reason === undefined ? membersPath(page) : undefined);
  if (reason !== undefined) return <ManagementOnly title="Team" reason={reason} />;
  return (
    <Page title="Team">
      <Members members={members} page={page} workspace={workspace} />
      {/* Not before the list above it has its length, so that nothing moves. */}
      {(members.answer || members.error) && <Workspaces current={workspace} />}
    </Page>
  );
}
