import { generateKeyPairSync, type KeyObject } from "node:crypto";
import jwt from "jsonwebtoken";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AccessTokenVerifier, accessTokenIssuer, claimsFromPrincipal, type Jwk } from "./access-token.ts";
import type { Principal } from "./principal.ts";

const principal: Principal = {
  keyId: "019a0000-0000-7000-8000-000000000001",
  keyKind: "api",
  userId: "user_000000000000000000000001",
  organizationId: "019a0000-0000-7000-8000-000000000002",
  workspaceId: "019a0000-0000-7000-8000-000000000003",
  permissions: ["presets:read", "presets:write"],
};

interface Pair {
  readonly privateKey: KeyObject;
  readonly jwk: Jwk;
}

function newPair(kid: string): Pair {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { privateKey, jwk: { ...publicKey.export({ format: "jwk" }), kid } };
}

const [first, second] = [newPair("first"), newPair("second")];

/** What the organization service publishes, and how often it was asked. */
let published: readonly Jwk[] | Error;
let fetches: number;
let verifier: AccessTokenVerifier;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  published = [first.jwk];
  fetches = 0;
  verifier = new AccessTokenVerifier(async () => {
    fetches += 1;
    if (published instanceof Error) throw published;
    return published;
  });
});

afterEach(() => {
  vi.useRealTimers();
});

function sign({ privateKey, jwk }: Pair = first, options: jwt.SignOptions = {}, whose = principal): string {
  return jwt.sign({ ...claimsFromPrincipal(whose) }, privateKey, {
    algorithm: "ES256",
    keyid: jwk.kid,
    issuer: accessTokenIssuer,
    expiresIn: 60,
    ...options,
  });
}

function authenticate(token: string): Promise<Principal> {
  return verifier.authenticate(`Bearer ${token}`);
}

describe("AccessTokenVerifier", () => {
  it.each<[string, Principal]>([
    ["all there is", principal],
    ["a management key", { ...principal, keyKind: "management", permissions: [] }],
    ["a workspace that is gone", { ...principal, workspaceId: undefined }],
    ["an organization that is gone", { ...principal, workspaceId: undefined, organizationId: undefined }],
  ])("finds the principal in a token: %s", async (_name, whose) => {
    expect(await authenticate(sign(first, {}, whose))).toEqual(whose);
  });

  it.each([
    ["no header", undefined, "TOKEN_MISSING"],
    ["another scheme", "Basic abc", "TOKEN_MISSING"],
    ["no token", "Bearer ", "TOKEN_MISSING"],
    ["no JWT", "Bearer abc", "TOKEN_INVALID"],
    ["a JWT without key id", `Bearer ${jwt.sign({}, "secret")}`, "TOKEN_INVALID"],
    [
      "another algorithm",
      `Bearer ${jwt.sign({}, "secret", { keyid: "first", issuer: accessTokenIssuer })}`,
      "TOKEN_INVALID",
    ],
  ])("refuses %s", async (_name, header, reason) => {
    await expect(verifier.authenticate(header)).rejects.toMatchObject({ kind: "unauthenticated", reason });
  });

  it("refuses the token of another issuer or key, and one that is not valid yet", async () => {
    const tokens = [
      sign(first, { issuer: "elsewhere" }),
      sign({ privateKey: second.privateKey, jwk: first.jwk }),
      sign(first, { notBefore: 60 }),
    ];
    for (const token of tokens) await expect(authenticate(token)).rejects.toMatchObject({ reason: "TOKEN_INVALID" });
  });

  it("refuses a token that has expired, also one that it has seen", async () => {
    const token = sign();
    await authenticate(token);
    vi.advanceTimersByTime(61_000);
    await expect(authenticate(token)).rejects.toMatchObject({ kind: "unauthenticated", reason: "TOKEN_EXPIRED" });
  });

  it("fetches the keys once for tokens that come at once", async () => {
    await Promise.all(Array.from({ length: 10 }, (_, n) => authenticate(sign(first, { jwtid: String(n) }))));
    expect(fetches).toBe(1);
  });

  it("learns a new key when a token names it", async () => {
    await authenticate(sign());
    vi.advanceTimersByTime(1_001);
    published = [second.jwk, first.jwk];
    expect(await authenticate(sign(second))).toEqual(principal);
    expect(fetches).toBe(2);
  });

  it("does not fetch again and again for keys that are made up", async () => {
    await authenticate(sign());
    for (let n = 0; n < 5; n += 1) {
      await expect(authenticate(sign({ ...second, jwk: { ...second.jwk, kid: `made-up-${n}` } }))).rejects.toThrow();
    }
    expect(fetches).toBe(1);
  });

  it("stops taking a key that is published no more, within minutes", async () => {
    await authenticate(sign());
    published = [second.jwk];
    vi.advanceTimersByTime(300_001);
    // The first token after that sets off the fetch, and does not wait for it.
    await authenticate(sign(first, { jwtid: "1" }));
    await expect(authenticate(sign(first, { jwtid: "2" }))).rejects.toMatchObject({ reason: "TOKEN_INVALID" });
  });

  it("goes on with the keys it has where they cannot be fetched", async () => {
    await authenticate(sign());
    published = new Error("ECONNREFUSED 10.0.0.1");
    vi.advanceTimersByTime(300_001);
    expect(await authenticate(sign())).toEqual(principal);
  });

  it("says that it cannot tell, where it has never had the key", async () => {
    published = new Error("ECONNREFUSED 10.0.0.1");
    await expect(authenticate(sign())).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.not.stringContaining("10.0.0.1"),
    });
    await expect(authenticate(sign())).rejects.toMatchObject({ kind: "unavailable" });
    expect(fetches).toBe(1);
    published = [first.jwk];
    vi.advanceTimersByTime(1_001);
    expect(await authenticate(sign())).toEqual(principal);
  });

  it("refuses a token whose payload is no JSON", async () => {
    const header = Buffer.from(JSON.stringify({ typ: "JWT", alg: "ES256", kid: first.jwk.kid })).toString("base64url");
    const token = `${header}.${Buffer.from("secret").toString("base64url")}.x`;
    await expect(authenticate(token)).rejects.toMatchObject({ kind: "unauthenticated", reason: "TOKEN_INVALID" });
  });
});
