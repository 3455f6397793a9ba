import { createPrivateKey } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ensureSigningKey } from "./signing-key.ts";

it("creates a P-256 key once, readable only by the owner", () => {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-signing-key-"));
  try {
    const file = join(folder, "signing-key.pem");
    expect(ensureSigningKey(file)).toBe(true);
    const made = readFileSync(file, "utf8");
    expect(createPrivateKey(made).asymmetricKeyDetails).toEqual({ namedCurve: "prime256v1" });
    expect(made).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(ensureSigningKey(file)).toBe(false);
    expect(readFileSync(file, "utf8")).toBe(made);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
