import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../services/platform/domain/ids.ts";
import { listVersions } from "../../services/preset/store/list-versions.ts";
import { openTestStore, type TestStore, upTo } from "../support/preset-store.ts";

const versionCount = 25;

let store: TestStore;
const workspaceId = newId();

beforeAll(async () => {
  store = await openTestStore();
  for (const n of upTo(versionCount)) {
    await store.create(workspaceId, "many", {
      configJson: `{"seed":${n}}`,
      systemPrompt: n % 2 ? `Prompt ${n}` : undefined,
    });
  }
  // Next to it, so that a range that runs too far would be noticed.
  await store.create(workspaceId, "many-more");
  await store.create(newId(), "many");
  await store.update(workspaceId, "many", { designatedVersion: 3 });
});

afterAll(() => store.close());

function list(offset: number, limit: number, slug = "many", workspace = workspaceId) {
  return listVersions(store.pool, workspace, slug, { offset, limit });
}

describe("listVersions", () => {
  it("returns all versions in ascending order, each with its own content", async () => {
    const page = await list(0, 100);
    expect(page?.totalCount).toBe(versionCount);
    expect(page?.versions.map(({ version }) => version)).toEqual(upTo(versionCount));
    expect(page?.versions.map(({ configJson }) => configJson)).toEqual(upTo(versionCount).map((n) => `{"seed":${n}}`));
    expect(page?.versions.slice(0, 2).map(({ systemPrompt }) => systemPrompt)).toEqual(["Prompt 1", undefined]);
  });

  it.each([
    ["a page in the middle", 10, 5, [11, 12, 13, 14, 15]],
    ["the last one", 24, 1, [25]],
    ["the rest", 23, 100, [24, 25]],
    ["none at the end", 25, 10, []],
    ["none far past the end", 2_147_483_647, 100, []],
  ])("returns %s, with the total", async (_name, offset, limit, numbers) => {
    const page = await list(offset, limit);
    expect(page?.versions.map(({ version }) => version)).toEqual(numbers);
    expect(page?.totalCount).toBe(versionCount);
  });

  it("returns undefined for a missing preset or one of another workspace", async () => {
    expect(await list(0, 10, "many", newId())).toBeUndefined();
    expect(await list(0, 10, "none")).toBeUndefined();
    expect(await list(0, 10, "MANY")).toBeUndefined();
  });

  it("ends a page before it is too large for a client, but returns at least one version", async () => {
    const mebibyte = 1024 * 1024;
    const large = { configJson: `{"stop":"${"x".repeat(mebibyte - 11)}"}`, systemPrompt: "y".repeat(mebibyte) };
    const small = { configJson: "{}", systemPrompt: undefined };
    for (const content of [small, large, large, small, small]) await store.create(workspaceId, "large", content);
    const numbersFrom = async (offset: number) => {
      const page = await list(offset, 100, "large");
      expect(page?.totalCount).toBe(5);
      return page?.versions.map(({ version }) => version);
    };
    expect(await numbersFrom(0)).toEqual([1, 2]);
    expect(await numbersFrom(1)).toEqual([2]);
    expect(await numbersFrom(2)).toEqual([3, 4, 5]);
  });
});
