import { reasonNotTo } from "../api/session.ts";
import { Page } from "../shell/page.tsx";
import { ManagementOnly } from "../ui/management-only.tsx";
import type { ScreenProps } from "./presets.tsx";
import { Members } from "./team/members.tsx";
import { Workspaces } from "./team/workspaces.tsx";

/** Who belongs to the organization, and its workspaces. */
export function Team({ query, workspace }: ScreenProps) {
  const reason = reasonNotTo("administer");
  if (reason !== undefined) return <ManagementOnly title="Team" reason={reason} />;
  return (
    <Page title="Team">
      <Members query={query} workspace={workspace} />
      <Workspaces current={workspace} />
    </Page>
  );
}
