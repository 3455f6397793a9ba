import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { presetLife } from "../support/preset-life.ts";
import { upTo } from "../support/preset-store.ts";
import { type CreationParts, type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
const { get, patch, stateOf, storedVersions } = presetLife(() => stack);

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack.close());

describe("an Idempotency-Key", () => {
  const body = { messages: [], model: "m" };
  const withKey = (idempotencyKey: string, parts: CreationParts = {}): CreationParts => ({
    ...parts,
    headers: { "idempotency-key": idempotencyKey },
  });

  it("gives the same request its first answer again, also after newer versions", async () => {
    const first = await stack.create("retried", body, withKey("retry"));
    await stack.create("retried", body);
    const again = await stack.create("retried", body, withKey("retry"));
    expect(again.status).toBe(200);
    expect(again.text).toBe(first.text);
    expect(await storedVersions("retried")).toHaveLength(2);
  });

  it("gives simultaneous duplicates one version and one answer", async () => {
    const answers = await Promise.all(upTo(20).map(() => stack.create("twins", body, withKey("twins"))));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await storedVersions("twins")).toHaveLength(1);
  });

  it("may be used for a good request after a refused one", async () => {
    expect((await stack.create("mended", { messages: 1 }, withKey("mended"))).status).toBe(400);
    expect((await stack.create("mended", body, withKey("mended"))).status).toBe(200);
  });

  it("belongs to its workspace", async () => {
    const other = await stack.tenants.createOrganization();
    const first = await stack.create("shared", body, withKey("shared"));
    const second = await stack.create("shared", body, withKey("shared", { key: other.apiKey }));
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.json.data.id).not.toBe(first.json.data.id);
  });

  it.each([
    ["another body", "used", { ...body, model: "other" }, {}],
    ["another slug", "used-elsewhere", body, {}],
    ["another dialect", "used", body, { dialect: "messages" }],
  ] as const)("used for %s is 409, and nothing is stored", async (_name, slug, otherBody, parts) => {
    await stack.create("used", body, withKey("used"));
    const { status, json } = await stack.create(slug, otherBody, withKey("used", parts));
    expect(status).toBe(409);
    expect(json.error).toMatchObject({ code: 409, message: expect.stringContaining("another request") });
    expect(await storedVersions("used")).toHaveLength(1);
    expect(await storedVersions("used-elsewhere")).toHaveLength(0);
  });

  it.each([
    ["one character", "x"],
    ["255 characters", "x".repeat(255)],
    ["all printable ASCII characters", Array.from({ length: 94 }, (_, n) => String.fromCharCode(33 + n)).join("")],
    ["a space inside", "a b"],
  ])("may have %s", async (_name, key) => {
    const answers = [
      await stack.create("good-keys", body, withKey(key)),
      await stack.create("good-keys", body, withKey(key)),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[1]?.text).toBe(answers[0]?.text);
  });

  it.each([
    ["no character", ""],
    ["256 characters", "x".repeat(256)],
    ["a character beyond ASCII", "é"],
    ["a tab inside", "a\tb"],
  ])("with %s is 400", async (_name, key) => {
    const { status, json } = await stack.create("bad-keys", body, withKey(key));
    expect(status).toBe(400);
    expect(json.error.metadata.issues).toEqual([
      { path: "Idempotency-Key", message: "must be 1 to 255 printable ASCII characters" },
    ]);
  });
});

describe("an Idempotency-Key of a preset that changes", () => {
  const body = { messages: [{ role: "system", content: "Be brief." }], model: "m" };
  const keyed = (key: string): CreationParts => ({ headers: { "idempotency-key": key } });

  it("gives the first answer again, byte for byte, whatever has become of the preset", async () => {
    const first = await stack.create("replayed", body, keyed("life-1"));
    const again = async () => {
      const answer = await stack.create("replayed", body, keyed("life-1"));
      expect([answer.status, answer.text, answer.headers.get("etag")]).toEqual([
        200,
        first.text,
        first.headers.get("etag"),
      ]);
    };
    await again();
    await stack.create("replayed", body);
    await again();
    await patch("replayed", { name: "Renamed", description: "Described" });
    await again();
    await patch("replayed", { designated_version: 2 });
    await again();
    await patch("replayed", { status: "archived" });
    await again();
    const before = await stateOf("replayed");
    await stack.preset.stop();
    await stack.preset.start();
    await again();
    expect(await stateOf("replayed")).toEqual(before);
  });

  it("gives again what the preset was at that time, also where that was not new", async () => {
    await stack.create("replayed-later", body);
    await patch("replayed-later", { name: "Näme 🙂", description: "D", status: "disabled" });
    const first = await stack.create("replayed-later", body, keyed("life-2"));
    expect(first.json.data).toMatchObject({ name: "Näme 🙂", description: "D", status: "disabled" });
    await patch("replayed-later", { name: "Other", description: null, status: "active" });
    const again = await stack.create("replayed-later", body, keyed("life-2"));
    expect(again.text).toBe(first.text);
  });

  it("makes one version of simultaneous duplicates, beside other creations and changes", async () => {
    await stack.create("busy", body);
    const answers = await Promise.all(
      upTo(60).map((n) => {
        if (n % 3 === 0) return patch("busy", { name: `Name ${n}` });
        return stack.create("busy", body, n % 3 === 1 ? keyed("life-3") : {});
      }),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const duplicates = answers.filter((_, index) => (index + 1) % 3 === 1);
    expect(new Set(duplicates.map(({ text }) => text)).size).toBe(1);
    const { json } = await stack.request("GET", "/presets/busy/versions", { key: stack.apiKey });
    expect(json.total_count).toBe(1 + 20 + 1);
  });

  it("is 409 for another body, also once the preset is archived", async () => {
    await stack.create("reused", body, keyed("life-4"));
    await patch("reused", { status: "archived" });
    const { status, json } = await stack.create("reused", { ...body, model: "n" }, keyed("life-4"));
    expect(status).toBe(409);
    expect(json.error.message).toContain("used for another request");
  });
});

describe("an Idempotency-Key of a PATCH", () => {
  const body = { messages: [], model: "m" };
  const withKey = (idempotencyKey: string) => ({ headers: { "idempotency-key": idempotencyKey } });

  it("gives the same request its first answer again, with its ETag, also after newer changes", async () => {
    await stack.create("patched", body);
    const first = await patch("patched", { name: "One" }, withKey("patch-1"));
    expect(first.status).toBe(200);
    await patch("patched", { name: "Two" });
    const again = await patch("patched", { name: "One" }, withKey("patch-1"));
    expect([again.status, again.text, again.headers.get("etag")]).toEqual([200, first.text, first.headers.get("etag")]);
    expect((await get("patched")).json.data.name).toBe("Two");
  });

  it("gives simultaneous duplicates one change and one answer", async () => {
    await stack.create("patched-twins", body);
    const answers = await Promise.all(
      upTo(20).map(() => patch("patched-twins", { description: "Once" }, withKey("patch-2"))),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    const changes = await stack.request("GET", "/presets/patched-twins/changes", { key: stack.apiKey });
    expect(changes.json.total_count).toBe(2);
  });

  it("used for another body, for another preset, or for a creation is 409, and nothing is stored", async () => {
    await stack.create("patched-a", body);
    await stack.create("patched-b", body, withKey("of-a-creation"));
    await patch("patched-a", { name: "A" }, withKey("patch-3"));
    const refused = [
      await patch("patched-a", { name: "Other" }, withKey("patch-3")),
      await patch("patched-b", { name: "A" }, withKey("patch-3")),
      await patch("patched-a", { name: "A" }, withKey("of-a-creation")),
      await stack.create("patched-a", body, withKey("patch-3")),
    ];
    expect(refused.map(({ status }) => status)).toEqual([409, 409, 409, 409]);
    expect(await storedVersions("patched-a")).toHaveLength(1);
    expect((await get("patched-b")).json.data.name).toBe("patched-b");
  });

  it("must be printable ASCII of at most 255 characters", async () => {
    await stack.create("patched-c", body);
    const { status, json } = await patch("patched-c", { name: "C" }, withKey("x".repeat(256)));
    expect(status).toBe(400);
    expect(json.error.metadata.issues).toMatchObject([{ path: "Idempotency-Key" }]);
  });
});
