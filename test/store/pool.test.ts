import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { isConnectionLost } from "../../services/platform/mysql/errors.ts";
import { openPool, type PoolConnection, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { inSnapshot, inTransaction, retryTransient } from "../../services/platform/mysql/transaction.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { blockProcess } from "../support/block-process.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { openDatabaseProxy, urlThrough } from "../support/tcp-proxy.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(async () => {
  await database.drop();
});

describe("openPool", () => {
  it("sets READ COMMITTED, UTC and strict SQL on every connection", async () => {
    const pool = openPool(database.url, 1);
    const [rows] = await pool.query<RowDataPacket[]>(
      "SHOW VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation', 'time_zone', 'sql_mode')",
    );
    const values = Object.fromEntries(rows.map((row) => [row.Variable_name, row.Value]));
    expect(values.transaction_isolation ?? values.tx_isolation).toBe("READ-COMMITTED");
    expect(values.time_zone).toBe("+00:00");
    expect(values.sql_mode).toContain("STRICT_ALL_TABLES");
    await pool.end();
  });

  it("gives a statement the same meaning, prepared or as text", async () => {
    const table =
      "CREATE TABLE kept (a BINARY(4), b TEXT, c DATETIME(3), d BIGINT, e INT, f MEDIUMTEXT) CHARSET utf8mb4";
    const kept = {
      a: Buffer.from([0, 39, 92, 255]),
      b: "'; -- \\ \" \u0000 \n 😀 ?",
      c: new Date("2024-02-29T23:59:59.123Z"),
      d: 9_007_199_254_740_991,
      e: null,
      f: '{"a":"\\\\\\n"}',
    };
    for (const protocol of ["prepared", "text"] as const) {
      const pool = openPool(database.url, 1, { protocol });
      await pool.query(table);
      await pool.execute("INSERT INTO kept VALUES (?, ?, ?, ?, ?, ?)", Object.values(kept));
      const [rows] = await pool.execute<RowDataPacket[]>("SELECT * FROM kept WHERE a = ? AND b = ?", [kept.a, kept.b]);
      const [prepared] = await pool.query<RowDataPacket[]>("SHOW SESSION STATUS LIKE 'Com_stmt_prepare'");
      await pool.query("DROP TABLE kept");
      expect([rows, Number(prepared[0]?.Value)]).toEqual([[kept], protocol === "prepared" ? 2 : 0]);
      await pool.end();
    }
  });

  it.each(["prepared", "text"] as const)("reports errors without values, safe to log: %s", async (protocol) => {
    const pool = openPool(database.url, 1, { protocol });
    await pool.query("CREATE TABLE once (a VARCHAR(40) PRIMARY KEY, b INT)");
    const insert = "INSERT INTO once VALUES (?, ?)";
    await pool.execute(insert, ["its 'SECRET'", 1]);
    const failures = [
      pool.execute(insert, ["its 'SECRET'", 1]),
      pool.execute(insert, ["x", "SECRET"]),
      pool.query("SELECT ? NONSENSE ?", ["a", "it's the SECRET"]),
    ];
    for (const failure of failures) {
      const error = await failure.catch((each) => each);
      expect(error.errno).toBeGreaterThan(0);
      expect(JSON.stringify({ ...error, message: error.message, stack: error.stack })).not.toContain("SECRET");
    }
    await pool.query("DROP TABLE once");
    await pool.end();
  });

  it.each([
    ["prepared", 1],
    ["text", 2],
  ] as const)("resets a session to READ COMMITTED after a snapshot, explicitly as text: %s", async (protocol, sets) => {
    const pool = openPool(database.url, 1, { protocol });
    const setsSoFar = async () => {
      const [rows] = await pool.query<RowDataPacket[]>("SHOW SESSION STATUS LIKE 'Com_set_option'");
      return Number(rows[0]?.Value);
    };
    for (const fails of [false, true]) {
      const before = await setsSoFar();
      const failure = await inSnapshot(pool, async (connection) => {
        await connection.query("SELECT 1");
        if (fails) throw new Error("on the way");
      }).catch((error) => error.message);
      expect([failure, (await setsSoFar()) - before]).toEqual([fails ? "on the way" : undefined, sets]);
    }
    await pool.end();
  });

  it("reads a snapshot again if a table is altered meanwhile", async () => {
    const pool = openPool(database.url, 2);
    await pool.query("CREATE TABLE read_first (a INT)");
    await pool.query("CREATE TABLE altered (a INT)");
    await pool.query("INSERT INTO altered VALUES (7)");
    let attempts = 0;
    const read = async (connection: PoolConnection): Promise<RowDataPacket[]> => {
      attempts += 1;
      await connection.query("SELECT * FROM read_first");
      if (attempts === 1) await pool.query("ALTER TABLE altered ADD KEY (a), ALGORITHM=COPY");
      const [rows] = await connection.query<RowDataPacket[]>("SELECT * FROM altered");
      return rows;
    };
    expect(await retryTransient(monotonicMs() + 10_000, () => inSnapshot(pool, read))).toEqual([{ a: 7 }]);
    expect(attempts).toBe(2);
    await pool.query("DROP TABLE read_first, altered");
    await pool.end();
  });

  it("keeps a bounded number of prepared statements, and prepares a closed one again", async () => {
    const pool = openPool(database.url, 1, { protocol: "prepared" });
    for (const round of [1, 2]) {
      for (let n = 0; n < 150; n += 1) {
        const [rows] = await pool.execute<RowDataPacket[]>(`SELECT ${n} + ? AS total`, [round]);
        expect(rows).toEqual([{ total: n + round }]);
      }
    }
    const [closed] = await pool.query<RowDataPacket[]>("SHOW SESSION STATUS LIKE 'Com_stmt_close'");
    expect(Number(closed[0]?.Value)).toBe(200);
    await pool.end();
  });

  it.each(["execute", "query"] as const)(
    "times out %s of a hanging statement and drops its connection",
    async (method) => {
      const pool = openPool(database.url, 1, { statementTimeoutMs: 1_000 });
      const id = async () => (await pool.execute<RowDataPacket[]>("SELECT CONNECTION_ID() AS id"))[0][0]?.id;
      const before = await id();
      const failure = await inTransaction(pool, async (connection) => {
        if (method === "execute") await connection.execute("SELECT SLEEP(5)");
        else await connection.query("SELECT SLEEP(5)");
      }).catch((error) => error);
      expect(isConnectionLost(failure)).toBe(true);
      expect(await id()).not.toBe(before);
      await pool.end();
    },
  );

  describe("for reads", () => {
    // Ten billion rows.
    const slowRead = `SELECT SUM(a.n) FROM ${["a", "b", "c", "d", "e"].map((name) => `hundred ${name}`).join(", ")}`;

    beforeAll(async () => {
      const pool = openPool(database.url, 1);
      await pool.query("CREATE TABLE hundred (n INT PRIMARY KEY)");
      await pool.query(`INSERT INTO hundred VALUES ${Array.from({ length: 100 }, (_, n) => `(${n})`).join(", ")}`);
      await pool.end();
    });

    it("aborts a read on the server that nobody waits for any more", async () => {
      const pool = openPool(database.url, 1, { statementTimeoutMs: 1_000, protocol: "prepared", isForReads: true });
      const observer = openPool(database.url, 1);
      const running = async () => {
        const [rows] = await observer.query<RowDataPacket[]>("SHOW FULL PROCESSLIST");
        return rows.filter((row) => row.db === database.name && row.Info === slowRead).map((row) => Number(row.Id));
      };
      const read = pool.execute(slowRead).catch((error) => error);
      await expect.poll(running, { interval: 20 }).toHaveLength(1);
      expect(isConnectionLost(await read)).toBe(true);
      try {
        await expect.poll(running).toEqual([]);
      } finally {
        for (const id of await running()) await observer.query("KILL ?", [id]);
        await pool.end();
        await observer.end();
      }
    });

    it("treats a read that exceeds the server's time limit as unavailable", async () => {
      const pool = openPool(database.url, 1, { statementTimeoutMs: 60_000, isForReads: true });
      await pool.query("SET SESSION /*!80000 max_execution_time = 100 */ /*M!100100 max_statement_time = 0.1 */");
      const failure = await pool.execute(slowRead).catch((error) => error);
      expect(failure.message).toContain("exceeded");
      expect(isConnectionLost(failure)).toBe(true);
      await pool.end();
    });
  });

  it("does not retry for a caller that left while waiting for a connection", async () => {
    const pool = openPool(database.url, 1);
    const held = await pool.getConnection();
    let [isGone, tries, runs] = [false, 0, 0];
    const caller = { deadlineMs: monotonicMs() + 10_000, isCanceled: () => isGone };
    const work = retryTransient(caller.deadlineMs, () => {
      tries += 1;
      return inTransaction(pool, async () => (runs += 1), caller);
    });
    isGone = true;
    held.release();
    await expect(work).rejects.toMatchObject({ kind: "canceled" });
    expect([tries, runs]).toEqual([1, 0]);
    await pool.end();
  });

  it("serves waiting tenants in turn, alternating with shared work", async () => {
    const pool = openPool(database.url, 1);
    const held = await pool.getConnection();
    const served: string[] = [];
    const caller = { deadlineMs: monotonicMs() + 10_000, isCanceled: () => false };
    const ask = async (name: string, tenant?: string) => {
      if (name.endsWith("1")) await inTransaction(pool, async () => {}, { ...caller, tenant });
      else await pool.within({ ...caller, tenant }).query("SELECT 1");
      served.push(name);
    };
    const asked = [
      ...["a1", "a2", "a3", "a4"].map((name) => ask(name, "a")),
      ...["b1", "b2"].map((name) => ask(name, "b")),
      ...["all1", "all2"].map((name) => ask(name)),
    ];
    held.release();
    await Promise.all(asked);
    expect(served).toEqual(["all1", "a1", "all2", "b1", "a2", "b2", "a3", "a4"]);
    await pool.end();
  });

  it("serves a tenant's fresher callers before those past half of their time", async () => {
    const pool = openPool(database.url, 1);
    const held = await pool.getConnection();
    const served: string[] = [];
    const ask = async (name: string, waitMs: number) => {
      const caller = { deadlineMs: monotonicMs() + waitMs, isCanceled: () => false, tenant: name.slice(0, 1) };
      await inTransaction(pool, async () => served.push(name), caller);
    };
    const asked = [ask("a1", 4_000), ask("a2", 4_000), ask("a3", 10_000)];
    await sleep(2_100);
    asked.push(ask("a4", 4_000), ask("b1", 4_000));
    held.release();
    await Promise.all(asked);
    expect(served).toEqual(["a3", "b1", "a4", "a1", "a2"]);
    await pool.end();
  });

  it("runs no statement for a caller that has left or timed out before getting a connection", async () => {
    const pool = openPool(database.url, 1);
    await pool.query("CREATE TABLE noted (name VARCHAR(40))");
    const held = await pool.getConnection();
    const note = (name: string, waitMs: number, isCanceled = () => false) =>
      pool
        .within({ deadlineMs: monotonicMs() + waitMs, isCanceled, tenant: "a" })
        .execute("INSERT INTO noted VALUES (?)", [name])
        .then(() => "stored")
        .catch(({ message }) => message);
    const late = note("late", 50);
    const [gone, patient] = [note("gone", 10_000, () => true), note("patient", 10_000)];
    expect(await late).toContain("was free in time");
    held.release();
    expect([await gone, await patient]).toEqual([expect.not.stringContaining("stored"), "stored"]);
    const [rows] = await pool.query<RowDataPacket[]>("SELECT name FROM noted");
    expect(rows).toEqual([{ name: "patient" }]);
    await pool.end();
  });

  it("keeps a quarter of the connections free from any one tenant", async () => {
    const pool = openPool(database.url, 4);
    const caller = { deadlineMs: monotonicMs() + 10_000, isCanceled: () => false };
    const taken: string[] = [];
    const take = (tenant: string) =>
      pool.getConnection({ ...caller, tenant }).then((connection) => {
        taken.push(tenant);
        return connection;
      });
    const ofOne = Array.from({ length: 5 }, () => take("a"));
    const [first, ...others] = await Promise.all(ofOne.slice(0, 3));
    others.push(await take("b"));
    expect(taken).toEqual(["a", "a", "a", "b"]);
    // Also if one is closed.
    first?.destroy();
    for (const each of others) each.release();
    for (const each of await Promise.all(ofOne.slice(3))) each.release();
    expect(taken).toEqual(["a", "a", "a", "b", "a", "a"]);
    await pool.end();
  });

  it("keeps a quarter of the connections free from any one tenant, also if they are idle", async () => {
    const pool = openPool(database.url, 4);
    const opened = await Promise.all(Array.from({ length: 4 }, () => pool.getConnection()));
    for (const each of opened) each.release();
    const caller = { deadlineMs: monotonicMs() + 10_000, isCanceled: () => false };
    const ofOne = Array.from({ length: 4 }, () => pool.getConnection({ ...caller, tenant: "a" }));
    const taken = await Promise.all(ofOne.slice(0, 3));
    expect(pool.counts).toEqual({ used: 3, idle: 1, waiting: 1 });
    taken.push(await pool.getConnection({ ...caller, tenant: "b" }));
    for (const each of taken) each.release();
    (await ofOne[3])?.release();
    await pool.end();
  });

  it("gives a tenant that loses a connection an idle one instead of making it wait", async () => {
    const pool = openPool(database.url, 2);
    const idOf = async (connection: PoolConnection) => {
      const [rows] = await connection.query<RowDataPacket[]>("SELECT CONNECTION_ID() AS id");
      return rows[0]?.id;
    };
    const caller = { deadlineMs: monotonicMs() + 10_000, isCanceled: () => false };
    const [first, second] = [
      await pool.getConnection({ ...caller, tenant: "a" }),
      await pool.getConnection({ ...caller, tenant: "b" }),
    ];
    const waiting = pool.getConnection({ ...caller, tenant: "a" });
    const idle = await idOf(second);
    second.release();
    expect(pool.counts).toEqual({ used: 1, idle: 1, waiting: 1 });
    first.destroy();
    const given = await waiting;
    expect(await idOf(given)).toBe(idle);
    given.release();
    await pool.end();
  });

  it("hands out no idle connection to a server that has gone silent", async () => {
    const proxy = await openDatabaseProxy(database.url);
    const pool = openPool(urlThrough(proxy, database.url), 2, { statementTimeoutMs: 2_000 });
    const caller = { deadlineMs: monotonicMs() + 10_000, isCanceled: () => false };
    const [first, second] = [
      await pool.getConnection({ ...caller, tenant: "a" }),
      await pool.getConnection({ ...caller, tenant: "b" }),
    ];
    const waiting = pool.getConnection({ ...caller, tenant: "a" });
    second.release();
    proxy.hang();
    expect(await first.query("SELECT 1").catch(isConnectionLost)).toBe(true);
    expect(pool.counts).toEqual({ used: 0, idle: 0, waiting: 1 });
    proxy.restore();
    const given = await waiting;
    await given.query("SELECT 1");
    given.release();
    await pool.end();
    proxy.close();
  });

  it("accepts an answer that arrived in time while the process was blocked", async () => {
    const pool = openPool(database.url, 1, { statementTimeoutMs: 300 });
    await pool.query("SELECT 1");
    const answer = pool.query<RowDataPacket[]>("SELECT CONNECTION_ID() AS id, SLEEP(0.05)");
    blockProcess(600);
    const [first] = await answer;
    const [second] = await pool.query<RowDataPacket[]>("SELECT CONNECTION_ID() AS id");
    expect(second[0]?.id).toBe(first[0]?.id);
    await pool.end();
  });

  it("leaves no timer of a caller that has got its connection", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const pool = openPool(database.url, 1, { statementTimeoutMs: 60_000 });
    const taken = await pool.getConnection();
    const before = timers();
    const answers = Array.from({ length: 50 }, () => pool.query("SELECT 1"));
    expect(timers() - before).toBeGreaterThan(25);
    taken.release();
    await Promise.all(answers);
    expect(timers() - before).toBeLessThan(25);
    await pool.end();
  });

  it("gives up a server that does not close a connection after a quit", async () => {
    const proxy = await openDatabaseProxy(database.url);
    const pool = openPool(urlThrough(proxy, database.url), 1, { statementTimeoutMs: 60_000 });
    await pool.query("SELECT 1");
    proxy.hang();
    const startedAtMs = monotonicMs();
    await pool.end();
    // The server would end the session much later.
    expect(monotonicMs() - startedAtMs).toBeLessThan(10_000);
    proxy.close();
  });

  describe("as time passes", () => {
    afterEach(() => {
      vi.useRealTimers();
    });

    it("gives a statement the statement timeout, and not that of connecting", async () => {
      const pool = openPool(database.url, 1, { statementTimeoutMs: 60_000 });
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
      const connection = await pool.getConnection();
      const answer = connection.query<RowDataPacket[]>("SELECT SLEEP(0.1) AS slept");
      vi.advanceTimersByTime(59_000);
      expect((await answer)[0]).toEqual([{ slept: 0 }]);
      connection.release();
      await pool.end();
    });

    it("counts the time of a statement from the answer to the one before it", async () => {
      const pool = openPool(database.url, 1, { statementTimeoutMs: 1_000 });
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
      const connection = await pool.getConnection();
      const answers = [1, 2].map((n) => connection.query<RowDataPacket[]>(`SELECT ${n} AS n, SLEEP(0.1) AS slept`));
      for (const [index, answer] of answers.entries()) {
        vi.advanceTimersByTime(900);
        expect((await answer)[0]).toEqual([{ n: index + 1, slept: 0 }]);
      }
      connection.release();
      await pool.end();
    });

    it("leaves no timer of a connection that was given up, nor of a closed pool", async () => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
      const pool = openPool(database.url, 1);
      const ofPool = vi.getTimerCount();
      const connection = await pool.getConnection();
      await connection.query("SELECT 1");
      expect(vi.getTimerCount()).toBeGreaterThan(ofPool);
      connection.destroy();
      expect(vi.getTimerCount()).toBe(ofPool);
      await pool.end();
      expect(vi.getTimerCount()).toBe(0);
    });
  });

  it("keeps half of the waiting places free from any one tenant", async () => {
    const pool = openPool(database.url, 1, { waitingMax: 4 });
    const held = await pool.getConnection();
    const caller = { deadlineMs: monotonicMs() + 10_000, isCanceled: () => false };
    const ask = (tenant: string) =>
      pool
        .within({ ...caller, tenant })
        .query("SELECT 1")
        .then(() => "answered", isConnectionLost);
    const asked = ["a", "a", "a", "b", "b", "c"].map(ask);
    expect(await Promise.all([asked[2], asked[5]])).toEqual([true, true]);
    held.release();
    expect(await Promise.all(asked)).toEqual(["answered", "answered", true, "answered", "answered", true]);
    await pool.end();
  });

  it("opens no connection once it is closed", async () => {
    const pool = openPool(database.url, 1);
    await pool.end();
    await expect(pool.query("SELECT 1")).rejects.toThrow("The pool is closed");
  });

  it("gives the places of callers that have left to others", async () => {
    const pool = openPool(database.url, 1, { waitingMax: 1 });
    const held = await pool.getConnection();
    const deadlineMs = monotonicMs() + 10_000;
    const gone = pool.getConnection({ deadlineMs, isCanceled: () => true }).catch(({ kind }) => kind);
    const answer = pool.query<RowDataPacket[]>("SELECT 1 AS one");
    held.release();
    expect([await gone, (await answer)[0]]).toEqual(["canceled", [{ one: 1 }]]);
    await pool.end();
  });

  it("continues after a connection is killed in the middle of a transaction", async () => {
    const pool = openPool(database.url, 1);
    const other = openPool(database.url, 1);
    let attempts = 0;
    const answer = await retryTransient(monotonicMs() + 5_000, () =>
      inTransaction(pool, async (connection) => {
        attempts += 1;
        const [rows] = await connection.execute<RowDataPacket[]>("SELECT CONNECTION_ID() AS id");
        if (attempts === 1) {
          await other.query("KILL ?", [rows[0]?.id]);
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        const [answers] = await connection.execute<RowDataPacket[]>("SELECT 1 AS one");
        return answers[0]?.one;
      }),
    );
    expect([answer, attempts]).toEqual([1, 2]);
    await pool.end();
    await other.end();
  });

  it("closes connections when it shrinks, busy ones once released, and keeps serving with one", async () => {
    // Connections of earlier tests may still be closing.
    const own = await createTestDatabase();
    const pool = openPool(own.url, 6);
    const observer = openPool(own.url, 1);
    const open = async () => {
      const [rows] = await observer.query<RowDataPacket[]>(
        "SELECT COUNT(*) AS count FROM information_schema.processlist WHERE db = ? AND id <> CONNECTION_ID()",
        [own.name],
      );
      return Number(rows[0]?.count);
    };
    const held = await Promise.all(Array.from({ length: 6 }, () => pool.getConnection()));
    for (const connection of held.slice(3)) connection.release();
    await expect.poll(open).toBe(6);
    expect(pool.counts).toEqual({ used: 3, idle: 3, waiting: 0 });

    pool.shrink();
    await expect.poll(open).toBe(3);
    expect(pool.counts).toEqual({ used: 3, idle: 0, waiting: 0 });
    const crowd = Array.from({ length: 20 }, (_, n) => pool.execute<RowDataPacket[]>("SELECT ? AS n", [n]));
    expect(pool.counts).toEqual({ used: 3, idle: 0, waiting: 20 });
    for (const connection of held.slice(0, 3)) connection.release();
    const answers = (await Promise.all(crowd)).map(([rows]) => Number(rows[0]?.n));
    expect(answers).toEqual(Array.from({ length: 20 }, (_, n) => n));
    await expect.poll(open).toBe(1);
    await pool.end();
    await expect.poll(open).toBe(0);
    await observer.end();
    await own.drop();
  });
});
