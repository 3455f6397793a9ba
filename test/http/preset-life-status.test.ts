import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isoTime } from "../support/patterns.ts";
import { presetLife } from "../support/preset-life.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
const { get, patch, createVersions, stateOf } = presetLife(() => stack);

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack.close());

describe("the status", () => {
  const statuses = ["active", "disabled", "archived"] as const;
  const cells = statuses.flatMap((from) =>
    statuses.map((to) => [from, to, from === "archived" && to === "disabled" ? 409 : 200] as const),
  );

  it.each(cells)("change from %s to %s returns %d", async (from, to, expected) => {
    const slug = `${from}-to-${to}`;
    await stack.create(slug);
    await patch(slug, { status: from });
    const before = (await get(slug)).json.data;
    await sleep(2);
    const { status, json } = await patch(slug, { status: to });
    expect(status).toBe(expected);
    const after = (await get(slug)).json.data;
    if (expected === 409) {
      expect(json.error.message).toBe(
        `The preset ${slug} is archived and cannot become disabled. Make it active first.`,
      );
      expect(after).toEqual(before);
    } else {
      expect(after).toEqual(json.data);
      expect(after.status).toBe(to);
      expect(after.status_updated_at).toBe(from === to ? before.status_updated_at : after.updated_at);
    }
  });

  it("is initially active, with status_updated_at null", async () => {
    const { data } = (await stack.create("fresh")).json;
    expect([data.status, data.status_updated_at]).toEqual(["active", null]);
  });

  it("keeps status_updated_at through other changes and new versions", async () => {
    await stack.create("kept");
    const { status_updated_at } = (await patch("kept", { status: "disabled" })).json.data;
    expect(status_updated_at).toMatch(isoTime);
    await sleep(2);
    await patch("kept", { name: "Kept" });
    expect((await stack.create("kept")).json.data.status_updated_at).toBe(status_updated_at);
  });

  it("stays disabled when a version is added", async () => {
    await stack.create("disabled");
    await patch("disabled", { status: "disabled" });
    const { status, json } = await stack.create("disabled");
    expect(status).toBe(200);
    expect(json.data).toMatchObject({ status: "disabled", designated_version: { version: 2 } });
  });

  it("archived returns 409 for a new version until the preset is restored", async () => {
    await stack.create("retired");
    await patch("retired", { status: "archived" });
    const before = await stateOf("retired");
    for (const dialect of ["chat/completions", "messages", "responses"] as const) {
      const { status, json } = await stack.create("retired", { model: "m", messages: [] }, { dialect });
      expect(status).toBe(409);
      expect(json.error.message).toContain('PATCH /api/v1/presets/retired with {"status": "active"}');
    }
    expect(await stateOf("retired")).toEqual(before);
    expect((await patch("retired", { status: "active" })).status).toBe(200);
    expect((await stack.create("retired")).json.data.designated_version.version).toBe(2);
  });

  it("archived still allows reading, renaming and rolling back", async () => {
    await createVersions("shelved", 2);
    await patch("shelved", { status: "archived" });
    const { status, json } = await patch("shelved", { name: "Shelved", designated_version: 1 });
    expect(status).toBe(200);
    expect(json.data).toMatchObject({ status: "archived", name: "Shelved", designated_version: { version: 1 } });
  });
});
