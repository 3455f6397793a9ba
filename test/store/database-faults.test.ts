import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isTransient } from "../../services/platform/mysql/errors.ts";
import { openPool, type Pool, type RowDataPacket, stalledAfterSeconds } from "../../services/platform/mysql/pool.ts";
import { inTransaction } from "../../services/platform/mysql/transaction.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { type DatabaseProxy, type Fault, openDatabaseProxy, type Phase } from "../support/database-proxy.ts";
import { serverOf } from "../support/lock-waits.ts";

/** Prepared, whatever protocol the tests use, because it has the most steps that can fail. */
const options = { statementTimeoutMs: 1_000, protocol: "prepared" } as const;
/** Several consecutive timeouts on a busy machine. */
const inTimeMs = 12_000;
const size = 3;

let database: TestDatabase;
let proxy: DatabaseProxy;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

beforeEach(async () => {
  proxy = await openDatabaseProxy(database.url);
  pool = openPool(proxy.url, size, options);
});

afterEach(async () => {
  await pool.end();
  await proxy.close();
});

/** Every way to use a pool. */
const uses = [
  () => pool.execute("SELECT 1 AS one"),
  () => pool.query("SELECT 1 AS one"),
  () => inTransaction(pool, (connection) => connection.execute("SELECT 1 AS one")),
];

/** More at once than there are connections. */
function useAtOnce(): Promise<unknown>[] {
  return Array.from({ length: size }, () => uses.map((use) => use())).flat();
}

async function openAll(): Promise<void> {
  const held = await Promise.all(Array.from({ length: size }, () => pool.getConnection()));
  for (const connection of held) connection.release();
  expect(proxy.connections).toBe(size);
  await Promise.all(useAtOnce());
}

async function expectAllToFailInTime(calls: readonly Promise<unknown>[]): Promise<void> {
  const startedAtMs = monotonicMs();
  const results = await Promise.allSettled(calls);
  expect(monotonicMs() - startedAtMs).toBeLessThan(inTimeMs);
  const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  expect(errors.length).toBeGreaterThan(0);
  expect(errors.filter((error) => !isTransient(error))).toEqual([]);
}

const phases: readonly Phase[] = ["connect", "handshake", "session", "query", "prepare", "execute", "commit"];
const cases = phases.flatMap((phase) => (["silence", "reset"] as const).map((fault): [Fault, Phase] => [fault, phase]));

describe("a failing database", () => {
  it.each(cases)(
    "with %s at %s makes all calls fail in time, leaks no connection and is used again",
    async (fault, phase) => {
      proxy.fail(phase, fault);
      await expectAllToFailInTime(useAtOnce());
      // Only successful uses have kept their connections.
      await expect.poll(() => proxy.silent).toBe(0);
      await pool.end();
      await expect.poll(() => proxy.connections).toBe(0);

      await proxy.heal();
      pool = openPool(proxy.url, size, options);
      await Promise.all(useAtOnce());
    },
  );

  it.each(cases.filter(([, phase]) => phase !== "connect" && phase !== "handshake" && phase !== "session"))(
    "with %s at %s on open connections is used again by the same pool",
    async (fault, phase) => {
      await openAll();
      proxy.fail(phase, fault);
      const fresh = () => pool.execute(`SELECT ${Math.floor(monotonicMs())} AS fresh`);
      await expectAllToFailInTime([...useAtOnce(), fresh()]);
      await expect.poll(() => proxy.silent).toBe(0);
      await proxy.heal();
      await Promise.all(useAtOnce());
      expect(proxy.connections).toBeLessThanOrEqual(size);
    },
  );

  it("that refuses connections is used again as soon as it is back", async () => {
    await Promise.all(useAtOnce());
    await proxy.refuse();
    await expectAllToFailInTime(useAtOnce());
    expect(proxy.connections).toBe(0);
    await proxy.heal();
    await Promise.all(useAtOnce());
  });

  it("with one silent statement does not cost every idle connection a timeout", async () => {
    await Promise.all(useAtOnce());
    proxy.fail("execute", "silence", 1);
    await expect(pool.execute("SELECT 1 AS one")).rejects.toThrow("did not answer");
    await expect.poll(() => proxy.connections).toBe(0);
    await pool.execute("SELECT 1 AS one");
    expect(proxy.connections).toBe(1);
  });

  it("that refuses how a session begins is left no connection", async () => {
    proxy.fail("session", 1227);
    await expect(pool.query("SELECT 1")).rejects.toMatchObject({ errno: 1227 });
    await expect.poll(() => proxy.connections).toBe(0);
  });

  it("that refuses one new connection is still served by the existing ones", async () => {
    const held = await pool.getConnection();
    proxy.fail("handshake", 1040);
    const waiting = pool.execute<RowDataPacket[]>("SELECT 1 AS one");
    await expect.poll(() => proxy.accepted).toBe(2);
    held.release();
    expect((await waiting)[0]).toEqual([{ one: 1 }]);
  });
});

describe("an error that makes a connection unusable", () => {
  it.each([1040, 1047, 1053, 1180, 1290, 1317, 1461, 1836, 1927])(
    "is followed by a new connection: %i",
    async (errno) => {
      await pool.execute("SELECT 1 AS one");
      proxy.fail("execute", errno, 1);
      await expect(pool.execute("SELECT 1 AS one")).rejects.toMatchObject({ errno });
      await pool.execute("SELECT 1 AS one");
      expect([proxy.accepted, proxy.connections]).toEqual([2, 1]);
    },
  );

  it("is detected when the connection is released", async () => {
    const connection = await pool.getConnection();
    proxy.fail("query", 1290, 1);
    await connection.query("SELECT 1").catch(() => {});
    connection.release();
    await pool.query("SELECT 1");
    expect(proxy.accepted).toBe(2);
  });

  it.each([1205, 1213, 1062])("does not include %i, which leaves the connection usable", async (errno) => {
    await pool.execute("DO 1");
    proxy.fail("execute", errno, 1);
    await expect(pool.execute("DO 1")).rejects.toMatchObject({ errno });
    await pool.execute("DO 1");
    expect(proxy.accepted).toBe(1);
  });
});

describe("a prepared statement that the server wants prepared again", () => {
  it("is prepared again, unnoticed by its caller", async () => {
    await pool.execute("SELECT ? AS value", [1]);
    proxy.fail("execute", 1615, 1);
    const [rows] = await pool.execute<RowDataPacket[]>("SELECT ? AS value", ["x"]);
    expect([rows, proxy.accepted]).toEqual([[{ value: "x" }], 1]);
  });

  it("is retried only once", async () => {
    proxy.fail("execute", 1615);
    await expect(pool.execute("SELECT ? AS value", [1])).rejects.toMatchObject({ errno: 1615 });
  });
});

describe("a connection", () => {
  it("released with a command still running is not reused", async () => {
    const connection = await pool.getConnection();
    const running = connection.query("SELECT SLEEP(0.2)").catch((error) => error);
    connection.release();
    expect(isTransient(await running)).toBe(true);
    await pool.query("SELECT 1");
    expect([proxy.accepted, proxy.connections]).toEqual([2, 1]);
  });

  it("released twice serves one caller at a time", async () => {
    const connection = await pool.getConnection();
    connection.release();
    connection.release();
    const [first, second] = await Promise.all([pool.getConnection(), pool.getConnection()]);
    expect(first).not.toBe(second);
    first.release();
    second.release();
  });

  it("closed by the server while idle is not reused", async () => {
    await pool.query("SELECT 1");
    await proxy.refuse();
    await proxy.heal();
    await expect.poll(() => proxy.connections).toBe(0);
    await pool.query("SELECT 1");
  });

  it("that goes silent in a transaction loses its locks", async () => {
    const others = openPool(database.url, 1, { lockTimeoutSeconds: 1 });
    await others.query("CREATE TABLE held (id INT PRIMARY KEY)");
    await others.query("INSERT INTO held VALUES (1)");
    // Like a machine that is lost, it closes nothing.
    const lost = openPool(proxy.url, 1, { ...options, statementTimeoutMs: 120_000, silenceMaxSeconds: 1 });
    const connection = await lost.getConnection();
    await connection.query("START TRANSACTION");
    await connection.query("SELECT id FROM held WHERE id = 1 FOR UPDATE");
    proxy.fail("commit", "silence");
    // Whether the server closes the connection before it releases the locks depends on its version.
    const unanswered = expect(connection.query("COMMIT")).rejects.toThrow(/given up|closed the connection/);
    await expect.poll(() => others.query("DELETE FROM held").then(() => "deleted", String)).toBe("deleted");
    connection.destroy();
    await unanswered;
    await Promise.all([lost.end(), others.end()]);
  });

  it("that stalls in a transaction loses its locks before waiting callers give up", async (context) => {
    const others = openPool(database.url, 1);
    if ((await serverOf(others)) === "MySQL") {
      await others.end();
      return context.skip("MySQL has no limit for this");
    }
    await others.query("CREATE TABLE stalled (id INT PRIMARY KEY)");
    await others.query("INSERT INTO stalled VALUES (1)");
    const stalling = openPool(database.url, 1, { ...options, transactionSilenceMaxSeconds: stalledAfterSeconds });
    const connection = await stalling.getConnection();
    await connection.query("START TRANSACTION");
    await connection.query("SELECT id FROM stalled WHERE id = 1 FOR UPDATE");
    await others.query("DELETE FROM stalled");
    const error = await connection.query("COMMIT").catch((thrown: unknown) => thrown);
    expect(isTransient(error)).toBe(true);
    connection.destroy();
    await Promise.all([stalling.end(), others.end()]);
  });

  it("idle for longer than the server's silence limit is still usable", async () => {
    const quiet = openPool(proxy.url, size, { ...options, silenceMaxSeconds: 3 });
    await quiet.query("SELECT 1");
    await sleep(5_000);
    await quiet.query("SELECT 1");
    expect(proxy.accepted).toBe(1);
    await quiet.end();
  });

  it("that stays unused is closed, except for a few", async () => {
    const quiet = openPool(proxy.url, 6, { idleTimeoutMs: 150 });
    const held = await Promise.all(Array.from({ length: 6 }, () => quiet.getConnection()));
    expect(proxy.connections).toBe(6);
    for (const connection of held) connection.release();
    await expect.poll(() => proxy.connections).toBe(2);
    await sleep(400);
    expect(proxy.connections).toBe(2);
    await quiet.end();
    await expect.poll(() => proxy.connections).toBe(0);
  });
});

describe("a caller waiting for a connection", () => {
  let held: Awaited<ReturnType<Pool["getConnection"]>>[];

  beforeEach(async () => {
    held = await Promise.all(Array.from({ length: size }, () => pool.getConnection()));
  });

  afterEach(() => {
    for (const connection of held) connection.release();
  });

  it("waits no longer than its deadline, and takes no connection later", async () => {
    const failure = await pool
      .getConnection({ deadlineMs: monotonicMs() + 50, isCanceled: () => false })
      .catch((error) => error);
    expect(isTransient(failure)).toBe(true);
    held.pop()?.release();
    await pool.query("SELECT 1");
    expect(proxy.connections).toBe(size);
  });

  it("waits at most the statement timeout if it has no deadline", async () => {
    await expect(pool.query("SELECT 1")).rejects.toThrow("was free in time");
  });

  it("is skipped after it has canceled", async () => {
    let canceled = false;
    const deadlineMs = monotonicMs() + 10_000;
    const first = pool.getConnection({ deadlineMs, isCanceled: () => canceled }).catch((error) => error);
    const second = pool.query<RowDataPacket[]>("SELECT 1 AS one");
    canceled = true;
    held.pop()?.release();
    expect((await second)[0]).toEqual([{ one: 1 }]);
    // Not a transient error: nothing is retried for a caller that has left.
    expect(await first).toMatchObject({ kind: "canceled" });
  });

  it("is rejected if too many are waiting", async () => {
    const small = openPool(proxy.url, 1, { waitingMax: 2 });
    const only = await small.getConnection();
    const results = Array.from({ length: 3 }, () => small.query("SELECT 1").then(() => "answered", isTransient));
    expect(await results[2]).toBe(true);
    only.release();
    expect(await Promise.all(results)).toEqual(["answered", "answered", true]);
    await small.end();
  });
});
