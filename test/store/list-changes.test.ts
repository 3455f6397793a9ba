import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../services/platform/domain/ids.ts";
import { listChanges } from "../../services/preset/store/list-changes.ts";
import { actor, openTestStore, type TestStore, upTo } from "../support/preset-store.ts";

let store: TestStore;
const workspaceId = newId();
const otherActor = { userId: "user_000000000000000000000002", keyId: newId() };

beforeAll(async () => {
  store = await openTestStore();
  await store.create(workspaceId, "logged");
  await store.create(workspaceId, "logged", { actor: otherActor });
  await store.update(workspaceId, "logged", { designatedVersion: 1 });
  await store.create(workspaceId, "logged");
  await store.update(workspaceId, "logged", { name: 'A "name" 🙂', description: "D" });
  await store.update(workspaceId, "logged", { description: null, status: "archived" });
  await store.create(workspaceId, "beside");
});

afterAll(() => store.close());

function list(offset: number, limit: number, slug = "logged", workspace = workspaceId) {
  return listChanges(store.pool, workspace, slug, { offset, limit });
}

describe("listChanges", () => {
  it("returns changes newest first", async () => {
    const page = await list(0, 100);
    expect(page?.totalCount).toBe(6);
    expect(page?.changes.map(({ revision, action, fields }) => ({ revision, action, fields }))).toEqual([
      {
        revision: 6,
        action: "preset_updated",
        fields: [
          { field: "description", from: "D", to: null },
          { field: "status", from: "active", to: "archived" },
        ],
      },
      {
        revision: 5,
        action: "preset_updated",
        fields: [
          { field: "name", from: "logged", to: 'A "name" 🙂' },
          { field: "description", from: null, to: "D" },
        ],
      },
      { revision: 4, action: "version_created", fields: [{ field: "designated_version", from: 1, to: 3 }] },
      { revision: 3, action: "preset_updated", fields: [{ field: "designated_version", from: 2, to: 1 }] },
      { revision: 2, action: "version_created", fields: [{ field: "designated_version", from: 1, to: 2 }] },
      { revision: 1, action: "preset_created", fields: [{ field: "designated_version", from: null, to: 1 }] },
    ]);
    expect(page?.changes.map((change) => change.actor)).toEqual([actor, actor, actor, actor, otherActor, actor]);
  });

  it.each([
    ["a page in the middle", 2, 2, [4, 3]],
    ["the oldest change", 5, 1, [1]],
    ["the rest", 4, 100, [2, 1]],
    ["none at the end", 6, 10, []],
    ["none far past the end", 2_147_483_647, 100, []],
  ])("returns %s, with the total", async (_name, offset, limit, revisions) => {
    const page = await list(offset, limit);
    expect(page?.changes.map(({ revision }) => revision)).toEqual(revisions);
    expect(page?.totalCount).toBe(6);
  });

  it("returns undefined for a missing preset or one of another workspace", async () => {
    expect(await list(0, 10, "logged", newId())).toBeUndefined();
    expect(await list(0, 10, "none")).toBeUndefined();
  });

  it("has one entry for each of 60 simultaneous creations", async () => {
    const answers = await Promise.all(upTo(60).map(() => store.create(workspaceId, "crowd")));
    const page = await list(0, 100, "crowd");
    const logged = page?.changes.map(({ revision, createdAt, fields }) => [revision, createdAt, fields[0]?.to]);
    const answered = answers.map(({ revision, updatedAt, designatedNumber }) => [
      revision,
      updatedAt,
      designatedNumber,
    ]);
    expect(logged?.toReversed()).toEqual(answered.toSorted(([a], [b]) => Number(a) - Number(b)));
  });
});
