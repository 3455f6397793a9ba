import { hasText } from "../api/has-text.ts";
import { nameOf } from "../api/people.ts";
import { reasonForbidden } from "../api/session.ts";
import type { Member } from "../api/types.ts";
import { pageIn } from "../api/use-list.ts";
import { useSearchedList } from "../api/use-searched-list.ts";
import { hrefTo, navigate } from "../shell/location.ts";
import { Page } from "../shell/page.tsx";
import { NoPermission } from "../ui/no-permission.tsx";
import type { ScreenProps } from "./screen-props.ts";
import { MemberSearch } from "./team/member-search.tsx";
import { Members } from "./team/members.tsx";
import { Workspaces } from "./team/workspaces.tsx";

/** The members of the organization, and its workspaces. */
export function Team({ workspace, query }: ScreenProps) {
  const reason = reasonForbidden("administer");
  const q = query.get("q") ?? "";
  const members = useSearchedList<Member>({
    path: "/api/v1/organization/members",
    q,
    fits: (member) => hasText([nameOf(member), member.email], q),
    page: pageIn(query),
    isAllowed: !reason,
    words: ["member", "members"],
  });
  return (
    <Page
      title="Team"
      actions={
        // Below a long list, nobody would look for the workspaces.
        members.items &&
        members.items.length > 10 && (
          <a class="button" href="#workspaces-title">
            Workspaces
          </a>
        )
      }
    >
      {reason ? (
        <NoPermission reason={reason} actions={["Add a member", "Create a workspace"]} />
      ) : (
        <>
          <MemberSearch
            q={q}
            go={(text, how) => navigate(hrefTo([workspace.slug, "team"], { q: text }), how)}
            isCutShort={members.isCutShort}
          />
          <Members list={members} workspace={workspace} query={query} />
          {/* Only once the list above has its final height, so that nothing moves. */}
          {(members.items || members.error) && <Workspaces workspace={workspace} query={query} />}
        </>
      )}
    </Page>
  );
}
