import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isTransient } from "../../services/platform/mysql/errors.ts";
import { migrate } from "../../services/platform/mysql/migrate.ts";
import { openPool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { presetMigrations } from "../../services/preset/app.ts";
import { createAuthority } from "../support/certificates.ts";
import { openDatabaseProxy } from "../support/database-proxy.ts";
import { type OwnServer, startOwnServer } from "../support/own-server.ts";

let folder: string;
let caFile: string;
let otherCaFile: string;
/** Our own server with a certificate for `localhost`. It is reached by its socket, whatever host a URL names. */
let server: OwnServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "setpoint-tls-"));
  const files = createAuthority("ours").issue(join(folder, "ours"));
  caFile = files.caCertificateFile;
  otherCaFile = createAuthority("another").issue(join(folder, "another")).caCertificateFile;
  server = await startOwnServer([
    `--ssl-cert=${files.certificateFile}`,
    `--ssl-key=${files.privateKeyFile}`,
    `--ssl-ca=${caFile}`,
  ]);
}, 60_000);

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

function urlOf(host: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(server.url);
  url.hostname = host;
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** The cipher of the connection; empty if it is not encrypted. */
async function cipherOf(url: string): Promise<string> {
  const pool = openPool(url, 1);
  try {
    const [rows] = await pool.query<RowDataPacket[]>("SHOW SESSION STATUS LIKE 'Ssl_cipher'");
    return rows[0]?.Value;
  } finally {
    await pool.end();
  }
}

describe("TLS to the database", () => {
  it("is used if the URL asks for it and the certificate matches CA and host", async () => {
    expect(await cipherOf(urlOf("localhost", { "ssl-ca": caFile }))).toMatch(/\w/);
    expect(await cipherOf(urlOf("localhost", { "ssl-mode": "DISABLED", "ssl-ca": caFile }))).toBe("");
    expect(await cipherOf(server.url)).toBe("");
  });

  it.each(["db.example.com", "localhost.example.com"])("fails if the certificate does not name %s", async (host) => {
    const failure = await cipherOf(urlOf(host, { "ssl-ca": caFile })).catch((error) => error);
    expect(failure.message).toMatch(/does not match certificate's altnames/);
    expect(isTransient(failure)).toBe(true);
    // Also with mysql2's own option, which by default would not check the name.
    await expect(cipherOf(urlOf(host, { ssl: '{"minVersion":"TLSv1.2"}', "ssl-ca": caFile }))).rejects.toThrow(
      "altnames",
    );
  });

  it("fails if the certificate is of another or an unknown CA", async () => {
    await expect(cipherOf(urlOf("localhost", { "ssl-ca": otherCaFile }))).rejects.toThrow(/certificate/);
    await expect(cipherOf(urlOf("localhost", { "ssl-mode": "VERIFY_IDENTITY" }))).rejects.toThrow(/certificate/);
  });

  it("applies to migrations as well", async () => {
    const onDatabase = (host: string) => urlOf(host, { "ssl-ca": caFile }).replace("/?", "/setpoint_tls?");
    await expect(migrate(onDatabase("db.example.com"), presetMigrations, () => {})).rejects.toThrow("altnames");
    expect(await migrate(onDatabase("localhost"), presetMigrations, () => {})).not.toEqual([]);
  });

  it("is not dropped if a man in the middle claims that the server lacks it", async () => {
    const proxy = await openDatabaseProxy(server.url, { hidesTls: true });
    const url = new URL(proxy.url);
    expect(await cipherOf(url.href)).toBe("");
    url.hostname = "localhost";
    url.searchParams.set("ssl-ca", caFile);
    await expect(cipherOf(url.href)).rejects.toThrow(/secure connection/);
    await proxy.close();
  });
});
