import { useState } from "preact/hooks";
import { session } from "../../api/session.ts";
import type { Member } from "../../api/types.ts";
import { type List, pageIn, pageSize } from "../../api/use-list.ts";
import { hrefTo } from "../../shell/location.ts";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Icon } from "../../ui/icon.tsx";
import { type Column, Listing } from "../../ui/listing.tsx";
import { Pager } from "../../ui/pager.tsx";
import { listMembers, nameOf } from "../../ui/person.tsx";
import type { ScreenProps } from "../presets.tsx";
import { MemberForm } from "./member-form.tsx";
import { MemberMenu } from "./member-menu.tsx";

const columns: readonly Column[] = [
  { title: "Member" },
  { title: "User id", class: "column-id only-wide" },
  { title: "Role", class: "column-role only-wide" },
  { title: "Actions", class: "column-menu", isUntitled: true },
];

function roleName({ role }: Member): string {
  return role === "org:admin" ? "Admin" : "Member";
}

interface MembersProps extends ScreenProps {
  readonly list: List<Member>;
}

export function Members({ list, workspace, query }: MembersProps) {
  const [isAdding, setAdding] = useState(false);
  const { items, total, error, isLoading, reload } = list;
  const changed = (): void => {
    reload();
    listMembers().catch(() => {});
  };
  const admins = items?.filter(({ role }) => role === "org:admin").length;
  // Where all of them are on this page, it is known who is the last admin.
  const isLastAdmin = total !== undefined && total <= pageSize && admins === 1;
  return (
    <section class="panel" aria-labelledby="members-title">
      <div class="panel-head">
        <h2 id="members-title">Members</h2>
        <button type="button" class="button small" onClick={() => setAdding(true)}>
          <Icon name="plus" /> Add a member
        </button>
      </div>
      {error && (
        <div class="panel-body">
          <ErrorPanel error={error} title="The members could not be loaded" retry={reload} />
        </div>
      )}
      {(items || !error) && (
        <Listing caption="Members, the oldest membership first" columns={columns} isStale={isLoading}>
          {items?.map((member) => (
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
                  <span class="only-narrow muted small">{roleName(member)}</span>
                </div>
              </td>
              <td class="only-wide">
                <div class="mono muted cut" title={member.id}>
                  {member.id}
                </div>
              </td>
              <td class="only-wide">{roleName(member)}</td>
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
          ))}
        </Listing>
      )}
      {total !== undefined && total > pageSize && (
        <div class="panel-foot">
          <Pager
            page={pageIn(query)}
            pageSize={pageSize}
            total={total}
            hrefOf={(to) => hrefTo([workspace.slug, "team"], { page: to > 1 ? to : undefined })}
          />
        </div>
      )}
      {isAdding && <MemberForm close={() => setAdding(false)} changed={changed} />}
    </section>
  );
}
