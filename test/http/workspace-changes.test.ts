import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { pathsOf } from "../support/administration-rest.ts";
import type { ChangeJson } from "../support/preset-answers.ts";
import { upTo } from "../support/preset-store.ts";
import type { Answer } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

interface WorkspaceChangeJson extends ChangeJson {
  readonly preset_id: string;
  readonly preset_slug: string;
  readonly preset_name: string;
}

let stack: Stack;
let workspaceId: string;

beforeAll(async () => {
  stack = await startStack();
  workspaceId = await stack.tenants.createWorkspace(stack);
});

afterAll(() => stack.close());

function list(query = "", key = stack.managementKey): Promise<Answer<WorkspaceChangeJson[]>> {
  return stack.request("GET", `/changes?workspace_id=${workspaceId}${query}`, { key });
}

const inWorkspace = () => ({ key: stack.managementKey, query: `?workspace_id=${workspaceId}` });

describe("the changes of a workspace", () => {
  it("are empty before there is a preset", async () => {
    const { status, json } = await list();
    expect([status, json.data, json.total_count]).toEqual([200, [], 0]);
  });

  it("cover all its presets, newest first, and no other workspace", async () => {
    await stack.create("elsewhere");
    const made = await stack.create("a", undefined, inWorkspace());
    await stack.create("b", undefined, inWorkspace());
    await stack.create("a", undefined, inWorkspace());
    const body = { name: "Alpha", designated_version: 1 };
    await stack.request("PATCH", `/presets/a?workspace_id=${workspaceId}`, { key: stack.managementKey, body });
    const { json } = await list();
    expect(json.total_count).toBe(4);
    expect(json.data.map((each) => [each.preset_slug, each.revision, each.action])).toEqual([
      ["a", 3, "preset_updated"],
      ["a", 2, "version_created"],
      ["b", 1, "preset_created"],
      ["a", 1, "preset_created"],
    ]);
    expect(json.data[0]).toEqual({
      preset_id: made.json.data.id,
      preset_slug: "a",
      preset_name: "Alpha",
      revision: 3,
      action: "preset_updated",
      user_id: stack.userId,
      key_id: expect.any(String),
      created_at: expect.stringMatching(/Z$/),
      changes: [
        { field: "name", from: "a", to: "Alpha" },
        { field: "designated_version", from: 2, to: 1 },
      ],
    });
    expect(
      (await stack.request<WorkspaceChangeJson[]>("GET", "/changes", { key: stack.apiKey })).json.total_count,
    ).toBe(1);
  });

  it("are complete across pages without duplicates, from either end", async () => {
    await Promise.all(upTo(60).map((n) => stack.create(`many-${n % 7}`, undefined, inWorkspace())));
    const seen: string[] = [];
    const { total_count: total } = (await list()).json;
    expect(total).toBe(64);
    for (let offset = 0; offset < total + 10; offset += 10) {
      const { json } = await list(`&limit=10&offset=${offset}`);
      expect(json.total_count).toBe(total);
      seen.push(
        ...json.data.map((each) => `${each.created_at} ${each.preset_id} ${String(each.revision).padStart(6, "0")}`),
      );
    }
    expect(seen).toHaveLength(total);
    expect(seen).toEqual([...new Set(seen)].sort().reverse());
  });

  it("can be filtered by action and user, and paged", async () => {
    const made = await list("&action=preset_created&limit=100");
    expect(made.json.total_count).toBe(made.json.data.length);
    expect(new Set(made.json.data.map(({ action }) => action))).toEqual(new Set(["preset_created"]));
    const updated = await list(`&action=preset_updated&user_id=${stack.userId}`);
    expect(updated.json.data.map((each) => [each.preset_slug, each.revision])).toEqual([["a", 3]]);
    const all = await list(`&user_id=${stack.userId}&limit=100`);
    expect(all.json).toEqual((await list("&limit=100")).json);
    const page = await list(`&user_id=${stack.userId}&offset=1&limit=1`);
    expect(page.json).toEqual({ data: [all.json.data[1]], total_count: all.json.total_count });
    expect((await list("&user_id=user_nobody")).json).toEqual({ data: [], total_count: 0 });
  });

  it.each([
    ["&action=unknown", "action"],
    ["&action=", "action"],
    ["&action=key_created", "action"],
    ["&user_id=", "user_id"],
    ["&user_id=%20", "user_id"],
    ["&user_id=1&user_id=2", "user_id"],
  ])("return 400 for %s", async (query, path) => {
    const answer = await list(query);
    expect(answer.status).toBe(400);
    expect(pathsOf(answer)).toEqual([path]);
  });

  it("return 403 without read permission and 400 for invalid paging", async () => {
    const using = await stack.tenants.createKey(stack, { permissions: ["inference"] });
    expect((await stack.request("GET", "/changes", { key: using.secret })).status).toBe(403);
    expect((await stack.request("GET", "/changes")).status).toBe(401);
    for (const query of ["&limit=0", "&limit=101", "&offset=-1", "&offset=x"]) {
      expect((await list(query)).status).toBe(400);
    }
    expect((await stack.request("GET", `/changes?workspace_id=${newId()}`, { key: stack.managementKey })).status).toBe(
      404,
    );
  });

  it("are counted exactly", async () => {
    const [rows] = (await stack.presetPool.query(
      "SELECT COUNT(*) AS total FROM preset_changes WHERE workspace_id = ?",
      [idToBytes(workspaceId)],
    )) as unknown as [[{ total: number }]];
    expect((await list("&limit=1")).json.total_count).toBe(rows[0].total);
  });
});
