import { describe, expect, it } from "vitest";
import type { OrganizationChange, WorkspaceChange } from "../../api/types.ts";
import { mergeLogs } from "./entries.ts";

function at<T>(...seconds: number[]): T[] {
  return seconds.map((second) => ({ created_at: `2026-01-01T00:00:0${second}.000Z` }) as T);
}

describe("two logs", () => {
  it("become one, the newest first", () => {
    const { entries } = mergeLogs(at<WorkspaceChange>(9, 5, 1), at<OrganizationChange>(8, 4), 50);
    expect(entries.map(({ log, change }) => `${log[0]}${change.created_at[18]}`)).toEqual([
      "p9",
      "o8",
      "p5",
      "o4",
      "p1",
    ]);
  });

  it("are used only as far as the page goes, so that the next one begins there", () => {
    const page = mergeLogs(at<WorkspaceChange>(9, 5, 1), at<OrganizationChange>(8, 4), 3);
    expect(page).toMatchObject({ presetsUsed: 2, organizationUsed: 1 });
  });

  it("may be empty", () => {
    expect(mergeLogs([], [], 50).entries).toEqual([]);
    expect(mergeLogs([], at<OrganizationChange>(8), 50)).toMatchObject({ organizationUsed: 1 });
  });
});
