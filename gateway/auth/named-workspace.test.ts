import { expect, it } from "vitest";
import { newId } from "../../services/platform/domain/ids.ts";
import { namedWorkspaceOf, noWorkspace } from "./named-workspace.ts";

const id = newId();
const violations = [{ path: "workspace_id", message: "must be a UUID, given once" }];

// Otherwise each spelling would have an entry in the cache of grants.
it("is the same workspace in any spelling", () => {
  for (const spelling of [id, id.toUpperCase()]) {
    expect(namedWorkspaceOf({ workspace_id: spelling })).toEqual({ workspaceId: id, violations: [] });
  }
});

it("is none if the query names none, or something else", () => {
  expect(namedWorkspaceOf({})).toBe(noWorkspace);
  for (const given of ["", "default", `${id}\n`, [id, id]]) {
    expect(namedWorkspaceOf({ workspace_id: given })).toEqual({ workspaceId: "", violations });
  }
});
