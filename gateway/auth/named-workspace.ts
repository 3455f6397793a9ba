import type { FieldViolation } from "../../services/platform/domain/domain-error.ts";
import { isId } from "../../services/platform/domain/ids.ts";

/** The workspace that a query names. */
export interface NamedWorkspace {
  /** Empty if it names none. It becomes part of a cache key, so it is always a UUID otherwise. */
  readonly workspaceId: string;
  readonly violations: readonly FieldViolation[];
}

export const noWorkspace: NamedWorkspace = { workspaceId: "", violations: [] };

export function namedWorkspaceOf(query: unknown): NamedWorkspace {
  const { workspace_id: id } = query as { workspace_id?: unknown };
  if (id === undefined) return noWorkspace;
  if (typeof id === "string" && isId(id)) return { workspaceId: id.toLowerCase(), violations: [] };
  return { workspaceId: "", violations: [{ path: "workspace_id", message: "must be a UUID, given once" }] };
}
