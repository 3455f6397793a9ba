import type { ComponentChildren } from "preact";
import { listAll } from "../../api/list-all.ts";
import type { Key, SessionWorkspace } from "../../api/types.ts";
import { hrefTo } from "../../shell/location.ts";
import { hasExpired } from "../keys/key-state.ts";

export interface KeyInWorkspace {
  readonly key: Key;
  readonly workspace: SessionWorkspace;
}

/** The working keys of everybody or of one member. The API lists the keys of one workspace at a time. */
export async function listWorkingKeys(
  workspaces: readonly SessionWorkspace[],
  userId?: string,
): Promise<readonly KeyInWorkspace[]> {
  const found: KeyInWorkspace[] = [];
  for (const workspace of workspaces) {
    const { items } = await listAll<Key>("/api/v1/keys", { workspace_id: workspace.id });
    const blocking = items.filter(
      (key) => (userId === undefined || key.creator_user_id === userId) && !key.disabled && !hasExpired(key),
    );
    found.push(...blocking.map((key) => ({ key, workspace })));
  }
  return found;
}

const keysNamedMax = 5;

interface WorkingKeysProps {
  readonly keys: readonly KeyInWorkspace[];
  /** Whose keys they are. */
  readonly owner: ComponentChildren;
  /** What to do about them. */
  readonly children: ComponentChildren;
}

/** The keys that prevent something, each with a link to the page where it is managed. */
export function WorkingKeys({ keys, owner, children }: WorkingKeysProps) {
  return (
    <>
      <p class="wrap">
        {owner} has {keys.length === 1 ? "a key that works" : `${keys.length} keys that work`}. {children}
      </p>
      <ul>
        {keys.slice(0, keysNamedMax).map(({ key, workspace }) => (
          <li key={key.id} class="wrap">
            <a href={hrefTo([workspace.slug, "keys"])}>{key.name}</a> in {workspace.name}
          </li>
        ))}
        {keys.length > keysNamedMax && <li>and {keys.length - keysNamedMax} more</li>}
      </ul>
    </>
  );
}
