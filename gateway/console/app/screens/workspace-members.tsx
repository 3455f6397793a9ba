import { useState } from "preact/hooks";
import { type ApiError, asApiError } from "../api/api-error.ts";
import { hasText } from "../api/has-text.ts";
import { personName, personNote } from "../api/people.ts";
import { request } from "../api/request.ts";
import { reasonForbidden, session } from "../api/session.ts";
import type { WorkspaceMember } from "../api/types.ts";
import { pageIn } from "../api/use-list.ts";
import { useSearchedList } from "../api/use-searched-list.ts";
import { useCommands } from "../shell/commands.ts";
import { hrefTo, navigate } from "../shell/location.ts";
import { Page } from "../shell/page.tsx";
import { showToast } from "../shell/toasts.tsx";
import { ActionButton } from "../ui/action-button.tsx";
import { ErrorDialog } from "../ui/error-dialog.tsx";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { Icon } from "../ui/icon.tsx";
import { type Column, Listing } from "../ui/listing.tsx";
import { NoPermission } from "../ui/no-permission.tsx";
import { Pager } from "../ui/pager.tsx";
import { Person } from "../ui/person.tsx";
import { Time } from "../ui/time.tsx";
import type { ScreenProps } from "./screen-props.ts";
import { AddToWorkspace } from "./team/add-to-workspace.tsx";
import { useDefaultWorkspace } from "./team/known-workspaces.ts";
import { MemberSearch, NobodyMatches } from "./team/member-search.tsx";
import { roleNames } from "./team/role-names.ts";
import { type KeyInWorkspace, listWorkingKeys, WorkingKeys } from "./team/working-keys.tsx";

const columns: readonly Column[] = [
  { title: "Member" },
  { title: "Role", class: "column-role only-wide" },
  { title: "Since", class: "column-when only-wide" },
  { title: "Actions", class: "column-remove", isUntitled: true },
];

interface WorkspaceMembersProps extends ScreenProps {
  readonly slug: string;
}

/** The members of a workspace. */
export function WorkspaceMembers({ workspace: current, query, slug }: WorkspaceMembersProps) {
  const [isAdding, setAdding] = useState(false);
  const [refusal, setRefusal] = useState<{ error: ApiError; userId: string; working: readonly KeyInWorkspace[] }>();
  const page = pageIn(query);
  const forbidden = reasonForbidden("administer");
  const path = `/api/v1/workspaces/${encodeURIComponent(slug)}/members`;
  const q = query.get("q") ?? "";
  const list = useSearchedList<WorkspaceMember>({
    path,
    q,
    fits: ({ user_id }) => hasText([personName(user_id), personNote(user_id)], q),
    page,
    isAllowed: !forbidden,
    words: ["member", "members"],
  });
  const { items, total, isLoading, reload } = list;
  const hrefWith = (change: { readonly q?: string; readonly page?: number }): string => {
    const { page: to = 1, q: text } = { q, ...change };
    return hrefTo([current.slug, "team", slug], { q: text, page: to > 1 ? to : undefined });
  };
  const defaultId = useDefaultWorkspace();
  // Whether there is a note above it must be known first, so that the list does not move.
  const listed = defaultId === undefined ? undefined : items;
  const shown = session.value?.workspaces.find((each) => each.slug === slug);
  const name = shown?.name ?? slug;
  const everybody =
    shown && shown.id === defaultId ? "Every member of the organization belongs to the default workspace." : undefined;
  const missing = list.error?.status === 404 ? list.error.message : undefined;
  const reason = forbidden ?? everybody ?? missing;
  useCommands(reason ? [] : [{ id: "add-members", label: "Add members …", run: () => setAdding(true) }]);

  const change = async (how: "add" | "remove", userIds: readonly string[]): Promise<void> => {
    await request(`${path}/${how}`, { method: "POST", body: { user_ids: userIds } });
    reload();
  };
  const remove = async (userId: string): Promise<void> => {
    try {
      await change("remove", [userId]);
      showToast(`${personName(userId)} is no longer a member of ${name}.`, {
        label: "Undo",
        run: () => void addAgain(userId, personName(userId)),
      });
    } catch (thrown) {
      const error = asApiError(thrown);
      // The API names the keys that still work, but by ids that are not shown here.
      const mayBeForKeys = error.status === 400 && shown;
      const working = mayBeForKeys ? await listWorkingKeys([shown], userId).catch(() => []) : [];
      setRefusal({ error, userId, working });
    }
  };
  // Reported in a toast, because one may have left the screen by then.
  const addAgain = (userId: string, person: string): Promise<void> =>
    change("add", [userId]).catch((thrown: unknown) =>
      showToast(`${person} was not added again: ${asApiError(thrown).message}`),
    );
  return (
    <Page
      title={`Members of ${name}`}
      crumbs={[["Team", hrefTo([current.slug, "team"])]]}
      actions={
        !forbidden && (
          <ActionButton class="primary" reason={reason} run={() => setAdding(true)}>
            <Icon name="plus" /> Add members
          </ActionButton>
        )
      }
    >
      {forbidden && <NoPermission reason={forbidden} actions={["Add members"]} />}
      {!forbidden && !missing && (
        <MemberSearch q={q} go={(text, how) => navigate(hrefWith({ q: text }), how)} isCutShort={list.isCutShort} />
      )}
      {everybody && <p class="muted">{everybody}</p>}
      {list.error && (
        <ErrorPanel error={list.error} title="The members could not be loaded" retry={missing ? undefined : reload} />
      )}
      {total === 0 && (
        <div class="panel">
          {q ? (
            <NobodyMatches q={q} allHref={hrefWith({ q: "" })} />
          ) : (
            <div class="empty">
              <h2>No members</h2>
              <p class="wrap">Nobody belongs to {name} yet. Add those who work on its presets.</p>
            </div>
          )}
        </div>
      )}
      {!forbidden && total !== 0 && (items || !list.error) && (
        <div class="panel" key={defaultId === undefined ? "skeleton" : "list"}>
          <Listing caption={`Members of ${name}, the oldest membership first`} columns={columns} isStale={isLoading}>
            {listed?.map(({ id, user_id, role, created_at }) => (
              <tr key={id}>
                <td>
                  <div class="two-lines">
                    <span class="row-name cut">
                      <Person id={user_id} />
                    </span>
                    <span class="muted small cut" title={personNote(user_id)}>
                      {personNote(user_id)}
                    </span>
                    <span class="only-narrow muted small">{roleNames[`org:${role}`]}</span>
                  </div>
                </td>
                <td class="only-wide">{roleNames[`org:${role}`]}</td>
                <td class="only-wide muted">
                  <Time at={created_at} />
                </td>
                <td class="column-remove">
                  <ActionButton
                    class="small"
                    reason={reason}
                    label={`Remove ${personName(user_id)}`}
                    run={() => void remove(user_id)}
                  >
                    Remove
                  </ActionButton>
                </td>
              </tr>
            ))}
          </Listing>
        </div>
      )}
      {defaultId !== undefined && total !== undefined && total > 0 && (
        <Pager page={page} total={total} isStale={isLoading} hrefOf={(to) => hrefWith({ page: to })} />
      )}
      {isAdding && (
        <AddToWorkspace
          name={name}
          path={path}
          close={() => setAdding(false)}
          add={(userIds) => change("add", userIds)}
        />
      )}
      {refusal && (
        <ErrorDialog title="The members were not changed" error={refusal.error} close={() => setRefusal(undefined)}>
          {refusal.working.length > 0 && (
            <WorkingKeys keys={refusal.working} owner={personName(refusal.userId)}>
              Disable or delete {refusal.working.length === 1 ? "it" : "them"} first:
            </WorkingKeys>
          )}
        </ErrorDialog>
      )}
    </Page>
  );
}
