import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { openPool, type Pool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { mostSimilar } from "../../services/preset/domain/similar-slug.ts";
import { listSlugsNear } from "../../services/preset/store/list-slugs-near.ts";
import { openTestStore, type TestStore, upTo } from "../support/preset-store.ts";

let store: TestStore;
/** With one connection, so that the server's session counters show the cost of a search. */
let pool: Pool;
const [workspaceId, otherWorkspaceId] = [newId(), newId()];

beforeAll(async () => {
  store = await openTestStore();
  pool = openPool(store.url, 1);
  for (const slug of ["support-bot", "billing", "archived-one", "disabled-one"]) await store.create(workspaceId, slug);
  await store.update(workspaceId, "archived-one", { status: "archived" });
  await store.update(workspaceId, "disabled-one", { status: "disabled" });
  await store.create(otherWorkspaceId, "elsewhere");
  await fill(upTo(5_000).map((n) => `support-${n}`));
});

afterAll(async () => {
  await pool.end();
  await store.close();
});

async function fill(slugs: readonly string[]): Promise<void> {
  const now = new Date();
  for (let from = 0; from < slugs.length; from += 500) {
    const part = slugs.slice(from, from + 500);
    await store.pool.query(
      `INSERT INTO presets (workspace_id, slug, id, name, status, creator_user_id, latest_version, designated_version,
        designated_version_id, revision, created_at, updated_at)
        VALUES ${part.map(() => "(?, ?, ?, ?, 'active', 'user_1', 1, 1, ?, 1, ?, ?)").join(", ")}`,
      part.flatMap((slug) => [idToBytes(workspaceId), slug, idToBytes(newId()), slug, idToBytes(newId()), now, now]),
    );
  }
}

async function similarTo(slug: string, workspace = workspaceId): Promise<string | undefined> {
  return mostSimilar(slug, await listSlugsNear(pool, workspace, slug));
}

describe("similar slugs", () => {
  it.each([
    ["upport-bot", "support-bot"],
    ["zupport-bot", "support-bot"],
    ["support-bto", "support-bot"],
    ["support-bots", "support-bot"],
    ["Support_Bot", "support-bot"],
    ["supportbot", "support-bot"],
    ["bilking", "billing"],
    ["bill1ng", "billing"],
    ["billlngs", "billing"],
  ])("for %s include %s", async (given, meant) => {
    expect(await similarTo(given)).toBe(meant);
  });

  it.each(["archived-on", "disabled-on", "elsewher", "unheard-of"])("for %s suggest nothing", async (given) => {
    expect(await similarTo(given)).toBeUndefined();
  });

  it("never come from another workspace", async () => {
    expect(await similarTo("elsewher", otherWorkspaceId)).toBe("elsewhere");
    expect(await listSlugsNear(pool, otherWorkspaceId, "support-bo")).toEqual(["elsewhere"]);
  });

  it("are found with few index reads, however many presets there are", async () => {
    const counters = async () => {
      const [rows] = await pool.query<RowDataPacket[]>(
        "SHOW SESSION STATUS WHERE Variable_name IN ('Handler_read_next', 'Handler_read_prev')",
      );
      return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
    };
    const before = await counters();
    await similarTo("support-2x00");
    expect((await counters()) - before).toBeLessThan(100);
  });
});
