import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../services/platform/domain/ids.ts";
import { configStartLength } from "../../services/preset/domain/config-model.ts";
import { findModels } from "../../services/preset/store/find-models.ts";
import { openTestStore, type TestStore } from "../support/preset-store.ts";

let store: TestStore;
const workspaceId = newId();

beforeAll(async () => {
  store = await openTestStore();
});

afterAll(() => store.close());

async function idOf(configJson: string, workspace = workspaceId): Promise<string> {
  return (await store.create(workspace, newId(), { configJson })).designatedVersionId;
}

describe("findModels", () => {
  it("returns the model of each version that names one", async () => {
    const ids = await Promise.all(
      ['{"model":"a/b"}', '{"seed":1}', '{"seed":1,"model":"🔥"}'].map((text) => idOf(text)),
    );
    const models = await findModels(store.pool, workspaceId, ids);
    expect(ids.map((id) => models.get(id))).toEqual(["a/b", undefined, "🔥"]);
  });

  it("reads only the start of a config, measured in characters", async () => {
    const stop = "🔥".repeat(configStartLength - 40);
    const inside = await idOf(`{"stop":"${stop}","model":"seen"}`);
    const outside = await idOf(`{"stop":"${stop}${stop}","model":"unseen"}`);
    const models = await findModels(store.pool, workspaceId, [inside, outside]);
    expect([models.get(inside), models.get(outside)]).toEqual(["seen", undefined]);
  });

  it("returns nothing for another workspace or for no versions", async () => {
    const foreign = await idOf('{"model":"theirs"}', newId());
    expect((await findModels(store.pool, workspaceId, [foreign, newId()])).size).toBe(0);
    expect((await findModels(store.pool, workspaceId, [])).size).toBe(0);
  });
});
