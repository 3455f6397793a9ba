import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLogger } from "../../services/platform/observe/logger.ts";
import { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import { freshName } from "../support/fresh-name.ts";
import { upTo } from "../support/preset-store.ts";
import type { Answer } from "../support/rest.ts";
import { openSecondPresetService } from "../support/second-processes.ts";
import { type Stack, startStack } from "../support/stack.ts";

const dialects = ["chat/completions", "messages", "responses"] as const;

let stack: Stack;
const secondPreset = new Lifecycle(silentLogger());

beforeAll(async () => {
  stack = await startStack();
  await openSecondPresetService(stack, secondPreset);
});

afterAll(async () => {
  await secondPreset.close();
  await stack.close();
});

type Headers = Record<string, string>;

function create(slug: string, headers: Headers = {}, dialect: (typeof dialects)[number] = "chat/completions") {
  return stack.create(slug, { model: "m", messages: [] }, { headers, dialect });
}

function patch(slug: string, body: object): Promise<Answer> {
  return stack.request("PATCH", `/presets/${slug}`, { key: stack.apiKey, body });
}

async function versionsOf(slug: string): Promise<number> {
  return (await stack.request("GET", `/presets/${slug}/versions`, { key: stack.apiKey })).json.total_count;
}

function etagOf({ headers }: Answer): string {
  return headers.get("etag") as string;
}

function expectStale({ status, json }: Answer): void {
  expect([status, json.error?.code]).toEqual([412, 412]);
}

describe.each(dialects)("a creation from a %s body with If-Match", (dialect) => {
  const name = `guarded-${dialect.replace("/", "-")}`;

  it("adds a version if the preset is unchanged, and returns 412 if it has moved", async () => {
    const slug = freshName(name);
    const first = await create(slug, {}, dialect);
    const second = await create(slug, { "if-match": etagOf(first) }, dialect);
    expect([second.status, second.json.data.designated_version.version]).toEqual([200, 2]);
    expectStale(await create(slug, { "if-match": etagOf(first) }, dialect));
    await patch(slug, { name: "Renamed" });
    expectStale(await create(slug, { "if-match": etagOf(second) }, dialect));
    expect(await versionsOf(slug)).toBe(2);
    const either = `"other", ${etagOf(first)}, ${(await stack.request("GET", `/presets/${slug}`, { key: stack.apiKey })).headers.get("etag")}`;
    expect((await create(slug, { "if-match": either }, dialect)).status).toBe(200);
  });

  it("returns 412 for a missing preset, even with If-Match: *", async () => {
    for (const tag of ["*", '"a-1"']) expectStale(await create(`new-${name}`, { "if-match": tag }, dialect));
    expect((await stack.request("GET", `/presets/new-${name}`, { key: stack.apiKey })).status).toBe(404);
    await create(name, {}, dialect);
    expect((await create(name, { "if-match": "*" }, dialect)).status).toBe(200);
  });
});

describe("a creation with If-Match", () => {
  it("accepts its own etag in weak form, but no other preset's tag and no quoted asterisk", async () => {
    const slug = freshName("own");
    const own = etagOf(await create(slug));
    const other = etagOf(await create("other"));
    for (const tag of [other, `W/${other}`, '"*"', '""']) expectStale(await create(slug, { "if-match": tag }));
    const { status, json } = await create(slug, { "if-match": slug });
    expect([status, json.error.metadata.issues]).toEqual([400, [expect.objectContaining({ path: "If-Match" })]]);
    expect(await versionsOf(slug)).toBe(1);
    expect((await create(slug, { "if-match": `W/${own}` })).status).toBe(200);
  });

  it("reports a stale etag before an archived preset", async () => {
    const slug = freshName("retired");
    const tag = etagOf(await create(slug));
    const archived = await patch(slug, { status: "archived" });
    expectStale(await create(slug, { "if-match": tag }));
    expect((await create(slug, { "if-match": etagOf(archived) })).status).toBe(409);
  });

  it("repeats the first answer for the same Idempotency-Key after the preset has moved", async () => {
    const slug = freshName("repeated");
    const tag = etagOf(await create(slug));
    const headers = { "if-match": tag, "idempotency-key": slug };
    const first = await create(slug, headers);
    expect(first.status).toBe(200);
    await create(slug);
    const again = await create(slug, headers);
    expect([again.status, again.text, etagOf(again)]).toEqual([200, first.text, etagOf(first)]);
    expect(await versionsOf(slug)).toBe(3);
  });

  it("does not use up the Idempotency-Key when it returns 412", async () => {
    const slug = freshName("merged");
    const tag = etagOf(await create(slug));
    const moved = etagOf(await create(slug));
    const key = { "idempotency-key": slug };
    expectStale(await create(slug, { ...key, "if-match": tag }));
    expect((await create(slug, { ...key, "if-match": moved })).status).toBe(200);
  });

  it("succeeds for exactly one of 100 simultaneous requests, in every round", async () => {
    const slug = freshName("raced");
    let tag = etagOf(await create(slug));
    for (const round of upTo(3)) {
      const answers = await Promise.all(upTo(100).map(() => create(slug, { "if-match": tag })));
      const won = answers.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 412)).toHaveLength(99);
      expect(won[0]?.json.data.designated_version.version).toBe(round + 1);
      tag = etagOf(won[0] as Answer);
    }
    expect(await versionsOf(slug)).toBe(4);
  });
});

describe("a creation with If-None-Match: *", () => {
  const onlyNew = { "if-none-match": "*" };

  it.each(dialects)("creates a preset from a %s body, and returns 412 if it exists", async (dialect) => {
    const slug = freshName(`only-new-${dialect.replace("/", "-")}`);
    expect((await create(slug, onlyNew, dialect)).json.data.designated_version.version).toBe(1);
    const refused = await create(slug, onlyNew, dialect);
    expectStale(refused);
    expect(refused.json.error.message).toContain(`There is a preset ${slug}`);
    await patch(slug, { status: "archived" });
    expectStale(await create(slug, onlyNew, dialect));
    expect(await versionsOf(slug)).toBe(1);
  });

  it("repeats the first answer for the same Idempotency-Key", async () => {
    const slug = freshName("new-again");
    const headers = { ...onlyNew, "idempotency-key": slug };
    const first = await create(slug, headers);
    expect(first.status).toBe(200);
    const again = await create(slug, headers);
    expect([again.status, again.text]).toEqual([200, first.text]);
  });

  it("succeeds for exactly one of 50 simultaneous requests", async () => {
    const slug = freshName("new-raced");
    const answers = await Promise.all(upTo(50).map(() => create(slug, onlyNew)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(49);
    expect(await versionsOf(slug)).toBe(1);
  });

  it("returns 400 for a tag, and for a combination with If-Match", async () => {
    for (const headers of [{ "if-none-match": '"a-1"' }, { ...onlyNew, "if-match": "*" }]) {
      const { status, json } = await create("confused", headers);
      expect([status, json.error.metadata.issues]).toEqual([400, [expect.objectContaining({ path: "If-None-Match" })]]);
    }
    // The internal marker for it is not accepted as a caller's tag.
    expectStale(await create("confused", { "if-match": '"-"' }));
  });
});
