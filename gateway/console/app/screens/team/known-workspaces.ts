import { batch } from "@preact/signals";
import { session } from "../../api/session.ts";
import type { One, SessionWorkspace } from "../../api/types.ts";
import { useLoaded } from "../../api/use-loaded.ts";
import { hrefTo, navigate, place } from "../../shell/location.ts";

/**
 * The id of the organization's default workspace, which a management key acts on unless it names another. Undefined until
 * it is known, null if it cannot be found out.
 */
export function useDefaultWorkspace(): string | null | undefined {
  const isAllowed = session.value?.key.kind === "management";
  const { answer, error } = useLoaded<One<{ readonly workspace_id: string | null }>>(
    isAllowed ? "/api/v1/key" : undefined,
  );
  if (answer) return answer.json.data.workspace_id;
  return error || !isAllowed ? null : undefined;
}

/** Adds a new or renamed workspace to the switcher. Whoever is in it stays there, under its new slug. */
export function rememberWorkspace({ id, slug, name }: SessionWorkspace, current: SessionWorkspace): void {
  change(
    (workspaces) => {
      const known = { id, slug, name };
      return workspaces.some((each) => each.id === id)
        ? workspaces.map((each) => (each.id === id ? known : each))
        : [...workspaces, known];
    },
    id === current.id ? slug : current.slug,
  );
}

/** Whoever is in the deleted workspace is taken to the first of the others. */
export function forgetWorkspace(workspaceId: string, current: SessionWorkspace): void {
  const start = session.value?.workspaces.find(({ id }) => id !== workspaceId);
  change(
    (workspaces) => workspaces.filter(({ id }) => id !== workspaceId),
    workspaceId === current.id ? (start?.slug ?? current.slug) : current.slug,
  );
}

/** Changes the list together with the address, so that the address never names a workspace that does not exist. */
function change(to: (workspaces: readonly SessionWorkspace[]) => readonly SessionWorkspace[], slug: string): void {
  const { value } = session;
  if (!value) return;
  const [before, ...rest] = place.value.parts;
  batch(() => {
    session.value = { ...value, workspaces: to(value.workspaces) };
    if (before !== slug) navigate(hrefTo([slug, ...rest]) + location.search, "replace");
  });
}
