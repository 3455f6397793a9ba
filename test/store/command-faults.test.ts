import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bootstrap } from "../../services/organization/commands/bootstrap.ts";
import { createConsoleTicket } from "../../services/organization/commands/create-console-ticket.ts";
import { hashKey } from "../../services/organization/domain/keys.ts";
import { findKeyScope } from "../../services/organization/store/key-scopes.ts";
import { newId } from "../../services/platform/domain/ids.ts";
import { openPool, type Pool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { isSharded } from "../support/database.ts";
import { type DatabaseProxy, type Fault, openDatabaseProxy, type Phase } from "../support/database-proxy.ts";
import { type Bootstrapped, openCommands, type TestCommands } from "../support/organization-commands.ts";

let commands: TestCommands;
let proxy: DatabaseProxy;
let pool: Pool;
let name: string;

beforeAll(async () => {
  commands = await openCommands();
});

afterAll(() => commands.close());

beforeEach(async () => {
  proxy = await openDatabaseProxy(commands.url);
  pool = openPool(proxy.url, 1, { statementTimeoutMs: 1_300, lockTimeoutSeconds: 1 });
  name = newId();
});

afterEach(async () => {
  proxy.letGo();
  await pool.end();
  await proxy.close();
});

const run = (...flags: string[]): Promise<string> =>
  bootstrap.read(["--organization", name, "--admin-email", "ada@example.com", "--json", ...flags])(pool);

async function expectMadeOnce({ organization_id: organizationId, api_key, management_key }: Bootstrapped) {
  for (const secret of [api_key, management_key]) {
    const scope = await findKeyScope(commands.pool, { hash: hashKey(secret), workspaceId: undefined });
    expect(scope).toMatchObject({ organizationId });
  }
  const [rows] = await commands.pool.query<RowDataPacket[]>(
    `SELECT (SELECT COUNT(*) FROM api_keys k WHERE k.organization_id = o.id) AS keyCount, member_count
      FROM organizations o WHERE name = ?`,
    [name],
  );
  expect(rows).toEqual([{ keyCount: 2, member_count: 1 }]);
}

describe("bootstrap", () => {
  const faults: readonly [string, Phase, Fault][] = [
    ["another node wins, reported in mid-transaction", isSharded ? "query" : "execute", 1213],
    ["another node wins, reported at the commit", "commit", 1213],
    ["a node has lost its primary component", "query", 1047],
    ["a node loses its primary component at the commit", "commit", 1180],
    ["a node loses its primary component at a commit that the others apply", "commit", { errno: 1180, isDone: true }],
    ["the answer to the commit is lost", "commit", "lost answer"],
  ];

  it.each(faults)("creates one organization and prints working keys if %s", async (_name, phase, fault) => {
    proxy.fail(phase, fault, 1);
    await expectMadeOnce(JSON.parse(await run()));
  });

  it("waits for a pending commit and prints the keys it stored", async () => {
    proxy.fail("commit", "hold", 1);
    const made = run();
    await expect.poll(() => proxy.held).toBe(1);
    // Once its answer is no longer awaited, and its rows are.
    await expect.poll(() => proxy.accepted).toBe(2);
    proxy.letGo();
    await expectMadeOnce(JSON.parse(await made));
  });

  it("reports an organization created by another node meanwhile as existing", async () => {
    await commands.makeOrganization(name);
    proxy.fail("query", 1213, 1);
    expect(await run("--if-absent")).toBe(`The organization "${name}" is there already.`);
  });

  it("gives up with a clear message after repeated conflicts", async () => {
    proxy.fail("commit", 1213);
    await expect(run()).rejects.toThrow("Someone else is changing the same thing. Try again in a moment");
  });
});

describe("create-console-ticket", () => {
  it.each([1213, 1047])("creates a link on a second attempt if a cluster node fails with %i", async (errno) => {
    const { api_key } = await commands.makeOrganization(name);
    proxy.fail(isSharded ? "query" : "execute", errno, 1);
    const link = await createConsoleTicket.read(["--key", hashKey(api_key).toString("hex")])(pool);
    expect(link).toMatch(/^\/console\/#ticket=/);
  });
});
