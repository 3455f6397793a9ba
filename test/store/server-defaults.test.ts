import { afterAll, beforeAll, expect, it } from "vitest";
import { openPool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { type OwnServer, startOwnServer } from "../support/own-server.ts";

let server: OwnServer;

beforeAll(async () => {
  server = await startOwnServer([
    // In GBK the last byte of the sign below and the backslash behind it are one character, and the quote stands alone.
    "--skip-character-set-client-handshake",
    "--character-set-server=gbk",
    // Here a backslash is an ordinary character.
    "--sql-mode=NO_BACKSLASH_ESCAPES",
  ]);
}, 60_000);

afterAll(() => server.stop());

it.each(["prepared", "text"] as const)(
  "keeps values intact under server defaults that would parse them differently: %s",
  async (protocol) => {
    const pool = openPool(server.url, 1, { protocol });
    const value = "€', 'taken' AS other -- ";
    const [rows] = await pool.execute<RowDataPacket[]>("SELECT ? AS value", [value]);
    expect(rows).toEqual([{ value }]);
    await pool.end();
  },
);
