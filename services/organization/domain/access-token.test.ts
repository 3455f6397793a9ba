import { generateKeyPairSync } from "node:crypto";
import jwt from "jsonwebtoken";
import { describe, expect, it } from "vitest";
import { AccessTokenVerifier } from "../../platform/auth/access-token.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import { mintAccessToken, tokenContent } from "./access-token.ts";
import { parseSigningKeys } from "./signing-keys.ts";

const pem = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" });
const [signingKey] = parseSigningKeys(pem.toString(), "KEY");
const principal: Principal = {
  keyId: "k",
  keyKind: "management",
  userId: "user_1",
  organizationId: "o",
  workspaceId: "w",
  permissions: ["presets:read", "presets:write"],
};

describe("an access token", () => {
  it.each([
    ["whole", principal],
    ["without a workspace", { ...principal, workspaceId: undefined }],
    ["without an organization", { ...principal, organizationId: undefined, workspaceId: undefined }],
  ])("identifies the principal: %s", async (_name, whole) => {
    const token = mintAccessToken(
      tokenContent(whole, { now: new Date(), ttlSeconds: 60, keyExpiresAt: undefined }),
      signingKey,
    );
    const verifier = new AccessTokenVerifier(async () => ({ keys: [signingKey.jwk] }));
    expect(await verifier.authenticate(`Bearer ${token.text}`)).toEqual(whole);
  });

  it("is an ES256 JWT that names its issuer and its signing key", () => {
    const content = tokenContent(principal, { now: new Date(), ttlSeconds: 60, keyExpiresAt: undefined });
    const { text } = mintAccessToken(content, signingKey);
    expect(jwt.decode(text, { complete: true })).toMatchObject({
      header: { alg: "ES256", kid: signingKey.jwk.kid },
      payload: { iss: "setpoint", sub: "user_1" },
    });
  });

  const now = new Date("2026-01-01T00:00:00.900Z");
  it.each([
    ["its own lifetime", undefined, "2026-01-01T00:01:00.000Z"],
    ["its own lifetime if the key's is longer", "2026-01-01T00:01:01.000Z", "2026-01-01T00:01:00.000Z"],
    ["the key's lifetime if that is shorter", "2026-01-01T00:00:30.999Z", "2026-01-01T00:00:30.000Z"],
    ["the second in which the key expires", "2026-01-01T00:00:00.999Z", "2026-01-01T00:00:01.000Z"],
  ])("expires after %s", (_name, keyExpiry, expected) => {
    const keyExpiresAt = keyExpiry === undefined ? undefined : new Date(keyExpiry);
    const token = mintAccessToken(tokenContent(principal, { now, ttlSeconds: 60, keyExpiresAt }), signingKey);
    expect(token.expiresAt.toISOString()).toBe(expected);
    expect(token.lifeSeconds).toBe((token.expiresAt.getTime() - Math.floor(now.getTime() / 1000) * 1000) / 1000);
    expect(jwt.decode(token.text)).toMatchObject({ exp: token.expiresAt.getTime() / 1000 });
  });
});
