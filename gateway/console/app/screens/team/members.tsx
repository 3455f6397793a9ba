import { useState } from "preact/hooks";
import { listMembers, nameOf } from "../../api/people.ts";
import { session } from "../../api/session.ts";
import type { Member } from "../../api/types.ts";
import { pageIn } from "../../api/use-list.ts";
import type { SearchedList } from "../../api/use-searched-list.ts";
import { hrefTo } from "../../shell/location.ts";
import { ListPanel } from "../../ui/list-panel.tsx";
import type { Column } from "../../ui/listing.tsx";
import type { ScreenProps } from "../screen-props.ts";
import { MemberForm } from "./member-form.tsx";
import { MemberMenu } from "./member-menu.tsx";
import { NobodyMatches } from "./member-search.tsx";
import { roleNames } from "./role-names.ts";

const columns: readonly Column[] = [
  { title: "Member" },
  { title: "Role", class: "column-role only-wide" },
  { title: "Actions", class: "column-menu", isUntitled: true },
];

interface MembersProps extends ScreenProps {
  readonly list: SearchedList<Member>;
}

export function Members({ list, workspace, query }: MembersProps) {
  const [isAdding, setAdding] = useState(false);
  const { all, reload } = list;
  const q = query.get("q") ?? "";
  const changed = (): void => {
    reload();
    listMembers().catch(() => {});
  };
  // Only if all members are known is it known who the last admin is.
  const isLastAdmin = all?.filter(({ role }) => role === "org:admin").length === 1;
  return (
    <ListPanel
      title="Members"
      caption="Members, the oldest membership first"
      columns={columns}
      list={list}
      add={["Add a member", () => setAdding(true)]}
      page={pageIn(query)}
      hrefOf={(to) => hrefTo([workspace.slug, "team"], { q, page: to > 1 ? to : undefined })}
      nothing={q && <NobodyMatches q={q} allHref={hrefTo([workspace.slug, "team"])} />}
      row={(member) => (
        <tr key={member.id}>
          <td>
            <div class="two-lines">
              <span class="name-line">
                <span class="row-name cut" title={nameOf(member)}>
                  {nameOf(member)}
                </span>
                {member.id === session.value?.user_id && <span class="badge accent">You</span>}
              </span>
              {nameOf(member) !== member.email && (
                <span class="muted small cut" title={member.email}>
                  {member.email}
                </span>
              )}
              <span class="only-narrow muted small">{roleNames[member.role]}</span>
            </div>
          </td>
          <td class="only-wide">{roleNames[member.role]}</td>
          <td class="column-menu">
            <MemberMenu
              member={member}
              reason={
                isLastAdmin && member.role === "org:admin"
                  ? "This is the last admin of the organization. Make someone else an admin first."
                  : undefined
              }
              changed={changed}
            />
          </td>
        </tr>
      )}
    >
      {isAdding && <MemberForm close={() => setAdding(false)} changed={changed} />}
    </ListPanel>
  );
}
