import { createHmac, createPublicKey, createSign, generateKeyPairSync, type KeyObject } from "node:crypto";
import jwt from "jsonwebtoken";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Metrics } from "../observe/metrics.ts";
import { AccessTokenVerifier } from "./access-token.ts";
import { accessTokenIssuer, claimsFromPrincipal } from "./claims.ts";
import { signJwt } from "./es256.ts";
import type { Jwk } from "./key-set.ts";
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

/** What the organization service publishes (undefined: it does not answer), how far its clock is ahead of ours, and how often it was asked. */
let published: readonly Jwk[] | Error | undefined;
let issuerAheadMs: number | undefined;
let fetches: number;
let lines: string[];
let metrics: Metrics;
let verifier: AccessTokenVerifier;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "performance"] });
  published = [first.jwk];
  issuerAheadMs = undefined;
  fetches = 0;
  lines = [];
  const logger = pino({ level: "info" }, { write: (line) => lines.push(line) });
  metrics = new Metrics("test");
  verifier = new AccessTokenVerifier(
    async () => {
      fetches += 1;
      if (published instanceof Error) throw published;
      if (!published) return new Promise(() => {});
      return { keys: published, timeMs: issuerAheadMs === undefined ? undefined : Date.now() + issuerAheadMs };
    },
    { logger, metrics },
  );
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

/** A token with any claims; undefined removes a claim. */
function signClaims(change: Record<string, unknown>, options: jwt.SignOptions = {}): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = { ...claimsFromPrincipal(principal), iss: accessTokenIssuer, iat: now, exp: now + 60, ...change };
  const header = Buffer.from(JSON.stringify({ alg: "ES256", kid: first.jwk.kid, ...options.header })).toString(
    "base64url",
  );
  const content = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  // jsonwebtoken itself would refuse to sign most of these.
  const signature = createSign("sha256").update(content).sign({ key: first.privateKey, dsaEncoding: "ieee-p1363" });
  return `${content}.${signature.toString("base64url")}`;
}

function authenticate(token: string): Promise<Principal> {
  return verifier.authenticate(`Bearer ${token}`);
}

describe("AccessTokenVerifier", () => {
  it.each<[string, Principal]>([
    ["all fields", principal],
    ["a management key", { ...principal, keyKind: "management", permissions: [] }],
    ["a deleted workspace", { ...principal, workspaceId: undefined }],
    ["a deleted organization", { ...principal, workspaceId: undefined, organizationId: undefined }],
  ])("reads the principal from a token: %s", async (_name, whose) => {
    expect(await authenticate(sign(first, {}, whose))).toEqual(whose);
  });

  it.each([
    ["no header", undefined, "TOKEN_MISSING"],
    ["another scheme", "Basic abc", "TOKEN_MISSING"],
    ["no token", "Bearer ", "TOKEN_MISSING"],
    ["not a JWT", "Bearer abc", "TOKEN_INVALID"],
    ["a JWT without key id", `Bearer ${jwt.sign({}, "secret")}`, "TOKEN_INVALID"],
    [
      "another algorithm",
      `Bearer ${jwt.sign({}, "secret", { keyid: "first", issuer: accessTokenIssuer })}`,
      "TOKEN_INVALID",
    ],
  ])("rejects %s", async (_name, header, reason) => {
    await expect(verifier.authenticate(header)).rejects.toMatchObject({ kind: "unauthenticated", reason });
  });

  it("rejects a token of another issuer or key, or one that is not valid yet", async () => {
    const tokens = [
      sign(first, { issuer: "elsewhere" }),
      sign({ privateKey: second.privateKey, jwk: first.jwk }),
      sign(first, { notBefore: 90 }),
    ];
    for (const token of tokens) await expect(authenticate(token)).rejects.toMatchObject({ reason: "TOKEN_INVALID" });
  });

  it.each([null, "claims", 1])("rejects a token whose payload is %j and not an object", async (payload) => {
    const token = signJwt(payload as never, { privateKey: first.privateKey, kid: first.jwk.kid });
    await expect(authenticate(token)).rejects.toMatchObject({ kind: "unauthenticated", reason: "TOKEN_INVALID" });
  });

  it.each([1, 2, 3])("rejects an expired token, even if it was used %i times", async (times) => {
    const token = sign();
    for (let time = 0; time < times; time += 1) expect(await authenticate(token)).toEqual(principal);
    vi.advanceTimersByTime(121_000);
    await expect(authenticate(token)).rejects.toMatchObject({ kind: "unauthenticated", reason: "TOKEN_EXPIRED" });
  });

  it("fetches the keys once for simultaneous tokens", async () => {
    await Promise.all(Array.from({ length: 10 }, (_, n) => authenticate(sign(first, { jwtid: String(n) }))));
    expect(fetches).toBe(1);
  });

  it("fetches a new key when a token names it", async () => {
    await authenticate(sign());
    vi.advanceTimersByTime(1_001);
    published = [second.jwk, first.jwk];
    expect(await authenticate(sign(second))).toEqual(principal);
    expect(fetches).toBe(2);
  });

  it("does not fetch repeatedly for made-up key ids", async () => {
    await authenticate(sign());
    for (let n = 0; n < 5; n += 1) {
      await expect(authenticate(sign({ ...second, jwk: { ...second.jwk, kid: `made-up-${n}` } }))).rejects.toThrow();
    }
    expect(fetches).toBe(1);
  });

  it("keeps using its keys if they cannot be fetched, and logs it once a minute", async () => {
    await authenticate(sign());
    published = new Error("ECONNREFUSED 10.0.0.1");
    for (let minute = 0; minute < 5; minute += 1) {
      vi.advanceTimersByTime(60_001);
      for (let n = 0; n < 5; n += 1) expect(await authenticate(sign(first, { jwtid: String(n) }))).toEqual(principal);
      await settle();
    }
    expect(lines.filter((line) => line.includes("cannot be fetched"))).toHaveLength(5);
  });

  it("returns unavailable if it has never had the key", async () => {
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

  it("rejects a token whose payload is not JSON", async () => {
    const header = Buffer.from(JSON.stringify({ typ: "JWT", alg: "ES256", kid: first.jwk.kid })).toString("base64url");
    const token = `${header}.${Buffer.from("secret").toString("base64url")}.x`;
    await expect(authenticate(token)).rejects.toMatchObject({ kind: "unauthenticated", reason: "TOKEN_INVALID" });
  });
});

/** Lets a background refresh finish. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

async function expectInvalid(token: string): Promise<void> {
  await expect(authenticate(token)).rejects.toMatchObject({ kind: "unauthenticated", reason: "TOKEN_INVALID" });
}

describe("a signing key that is no longer published", () => {
  it("invalidates cached tokens even if no other token arrives", async () => {
    const token = sign(first, { expiresIn: 3_600 });
    await authenticate(token);
    published = [second.jwk];
    vi.advanceTimersByTime(60_001);
    // The first call after that starts the fetch without waiting for it.
    await authenticate(token);
    await settle();
    await expectInvalid(token);
  });

  it("invalidates cached tokens at once when a token of the new key arrives", async () => {
    const token = sign(first, { expiresIn: 3_600 });
    await authenticate(token);
    published = [second.jwk];
    vi.advanceTimersByTime(1_001);
    await authenticate(sign(second));
    await expectInvalid(token);
  });

  it("is not trusted by a process that was idle meanwhile", async () => {
    const token = sign(first, { expiresIn: 3_600 });
    await authenticate(token);
    published = [second.jwk];
    vi.advanceTimersByTime(1_800_000);
    const refused = await Promise.allSettled([authenticate(token), authenticate(token)]);
    expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });

  it("is not trusted even if another key has its id", async () => {
    const token = sign(first, { expiresIn: 3_600 });
    await authenticate(token);
    published = [{ ...second.jwk, kid: "first" }];
    vi.advanceTimersByTime(60_001);
    await authenticate(token);
    await settle();
    await expectInvalid(token);
  });

  it("leaves no cached token that was verified meanwhile", async () => {
    const token = sign(first, { expiresIn: 3_600 });
    await authenticate(token);
    published = [second.jwk];
    vi.advanceTimersByTime(60_001);
    const many = Array.from({ length: 50 }, (_, n) => sign(first, { jwtid: String(n), expiresIn: 3_600 }));
    await Promise.allSettled([token, ...many].map(authenticate));
    await settle();
    for (const each of [token, ...many]) await expectInvalid(each);
  });
});

describe("an invalid key set", () => {
  it.each<[string, unknown[]]>([
    ["no key", []],
    ["no usable key", [{ kty: "oct", k: "c2VjcmV0", kid: "first" }]],
    ["nothing but garbage", [null, 1, "x", {}, { kid: 1 }]],
    ["a key off the curve", [{ ...first.jwk, x: "AAAA" }]],
  ])("does not lock everybody out, and is logged: %s", async (_name, keys) => {
    await authenticate(sign());
    published = keys as Jwk[];
    vi.advanceTimersByTime(60_001);
    await authenticate(sign());
    await settle();
    expect(await authenticate(sign(first, { jwtid: "1" }))).toEqual(principal);
    expect(lines.join("")).toMatch(/the public keys of access tokens cannot be fetched/);
  });

  it("may contain keys for other uses", async () => {
    published = [
      { kty: "RSA", kid: "rsa" },
      { ...second.jwk, x: "AAAA", kid: "broken" },
      { ...second.jwk, use: "enc" },
      first.jwk,
    ];
    expect(await authenticate(sign())).toEqual(principal);
    await expectInvalid(sign(second));
  });

  it("uses the first of two keys with one id", async () => {
    published = [first.jwk, { ...second.jwk, kid: "first" }];
    expect(await authenticate(sign())).toEqual(principal);
    await expectInvalid(sign({ ...second, jwk: first.jwk }));
  });
});

describe("the claims of a token", () => {
  it("are accepted if complete", async () => {
    expect(await authenticate(signClaims({}))).toEqual(principal);
    expect(await authenticate(signClaims({ nbf: Math.floor(Date.now() / 1000) }))).toEqual(principal);
  });

  it.each<[string, Record<string, unknown>]>([
    ...["sub", "key", "kind", "perm", "iat", "exp", "iss"].map((name): [string, Record<string, unknown>] => [
      `no ${name}`,
      { [name]: undefined },
    ]),
    ...["sub", "key", "kind", "perm", "iat", "exp", "nbf", "org", "ws"].flatMap((name) =>
      [null, {}, [1], "", true].map((value): [string, Record<string, unknown>] => [
        `${name} ${JSON.stringify(value)}`,
        { [name]: value },
      ]),
    ),
    ["an unknown kind", { kind: "admin" }],
    ["a lifetime of more than an hour", { exp: Math.floor(Date.now() / 1000) + 3_700 }],
    ["no expiry", { exp: 1e300 }],
  ])("are rejected as invalid: %s", async (_name, change) => {
    await expectInvalid(signClaims(change));
  });

  it("may include unknown permissions", async () => {
    const token = signClaims({ perm: ["presets:read", "presets:launch"] });
    expect((await authenticate(token)).permissions).toEqual(["presets:read"]);
  });

  it("are read only if the token is not too long", async () => {
    await expectInvalid(signClaims({ sub: "u".repeat(4_000) }));
  });
});

describe("a token not signed by a known key", () => {
  const publicPem = createPublicKey(first.privateKey).export({ type: "spki", format: "pem" }).toString();
  const unsigned = (header: object, payload: unknown = claimsFromPrincipal(principal)) =>
    `${[header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")}.`;

  function hmac(secret: string): string {
    const content = unsigned({ alg: "HS256", kid: "first" }).slice(0, -1);
    return `${content}.${createHmac("sha256", secret).update(content).digest("base64url")}`;
  }

  it.each<[string, () => string]>([
    ["no algorithm", () => unsigned({ alg: "none", kid: "first" })],
    ["no algorithm, in capitals", () => unsigned({ alg: "NONE", kid: "first" })],
    ["the public key as an HMAC secret", () => hmac(publicPem)],
    ["the public key as JSON as an HMAC secret", () => hmac(JSON.stringify(first.jwk))],
    ["a key id that is a number", () => unsigned({ alg: "ES256", kid: 1 })],
    ["a key id that is an object", () => unsigned({ alg: "ES256", kid: { first: true } })],
    ["a key id that is a list", () => unsigned({ alg: "ES256", kid: ["first"] })],
    ["the name of an object property as key id", () => unsigned({ alg: "ES256", kid: "__proto__" })],
    ["a huge key id", () => unsigned({ alg: "ES256", kid: "k".repeat(100_000) })],
    ["an embedded key", () => unsigned({ alg: "ES256", kid: "first", jwk: second.jwk })],
    ["a payload that is a string", () => unsigned({ alg: "ES256", kid: "first" }, "text")],
    ["no header", () => unsigned([])],
  ])("is rejected: %s", async (_name, token) => {
    await authenticate(sign());
    await expectInvalid(token());
  });
});

describe("clock differences", () => {
  /** As signed by an organization service whose clock is this far ahead of ours. */
  function signAhead(aheadSeconds: number, options: jwt.SignOptions = {}): string {
    const iat = Math.floor(Date.now() / 1000) + aheadSeconds;
    return jwt.sign({ ...claimsFromPrincipal(principal), iat }, first.privateKey, {
      algorithm: "ES256",
      keyid: "first",
      issuer: accessTokenIssuer,
      expiresIn: 60,
      ...options,
    });
  }

  it.each([-59, -30, 30, 59])("of %i seconds do not shorten a token's life", async (aheadSeconds) => {
    issuerAheadMs = aheadSeconds * 1000;
    const token = signAhead(aheadSeconds);
    expect(await authenticate(token)).toEqual(principal);
    vi.advanceTimersByTime(58_000);
    expect(await authenticate(token)).toEqual(principal);
    // Also for a process that has not cached it.
    expect(await authenticate(signAhead(aheadSeconds - 58))).toEqual(principal);
    await verifier.check();
    expect(await metrics.registry.getSingleMetricAsString("setpoint_clock_ahead_seconds")).toContain(
      ` ${-aheadSeconds}`,
    );
    expect(lines.filter((line) => line.includes("the clock of this machine is"))).toHaveLength(1);
  });

  it.each([-59, 0, 59])("of %i seconds do not extend a token's life", async (aheadSeconds) => {
    issuerAheadMs = aheadSeconds * 1000;
    const token = signAhead(aheadSeconds);
    expect(await authenticate(token)).toEqual(principal);
    vi.advanceTimersByTime(66_000);
    await expect(authenticate(token)).rejects.toMatchObject({ reason: "TOKEN_EXPIRED" });
    // Nor for a process that has not cached it.
    await expect(authenticate(signAhead(aheadSeconds - 66))).rejects.toMatchObject({ reason: "TOKEN_EXPIRED" });
  });

  it("are measured again before a token is rejected", async () => {
    issuerAheadMs = 0;
    await verifier.check();
    vi.advanceTimersByTime(1_001);
    issuerAheadMs = -50_000;
    expect(await authenticate(signAhead(-50))).toEqual(principal);
  });

  it("are not measured again before a rejection if the last attempt got no answer", async () => {
    issuerAheadMs = 0;
    const token = sign();
    await authenticate(token);
    published = new Error("ECONNREFUSED 10.0.0.1");
    vi.advanceTimersByTime(66_000);
    await expect(authenticate(token)).rejects.toMatchObject({ reason: "TOKEN_EXPIRED" });
    published = undefined;
    vi.advanceTimersByTime(5_001);
    await expect(authenticate(token)).rejects.toMatchObject({ reason: "TOKEN_EXPIRED" });
    expect(fetches).toBe(3);
  });

  it("make a rejected token count once as out of time", async () => {
    issuerAheadMs = 0;
    await expect(authenticate(signAhead(-90))).rejects.toMatchObject({ reason: "TOKEN_EXPIRED" });
    vi.advanceTimersByTime(1_001);
    await expect(authenticate(signAhead(-90))).rejects.toMatchObject({ reason: "TOKEN_EXPIRED" });
    expect(await metrics.registry.getSingleMetricAsString("setpoint_tokens_out_of_time_total")).toMatch(/ 2$/m);
  });

  it("do not matter if both clocks were set back", async () => {
    await verifier.check();
    vi.advanceTimersByTime(1_001);
    vi.setSystemTime(Date.now() - 3_600_000);
    expect(await authenticate(signAhead(0))).toEqual(principal);
  });

  it.each([
    [90, "90 s behind"],
    [-150, "150 s ahead of"],
  ])("of %i seconds make the process not ready with a reason, until corrected", async (aheadSeconds, said) => {
    issuerAheadMs = aheadSeconds * 1000;
    await expect(authenticate(signAhead(aheadSeconds))).rejects.toMatchObject({ kind: "unauthenticated" });
    await expect(verifier.check()).rejects.toThrow(`the clock of this machine is ${said} that of the organization`);
    expect(lines.join("")).toContain(said);
    issuerAheadMs = 0;
    vi.advanceTimersByTime(5_001);
    await verifier.check().catch(() => {});
    await settle();
    await verifier.check();
  });

  it.each([
    [-62, 0],
    [-66, 1],
  ])("of %i seconds make a one-minute token count %i times as out of time", async (ahead, times) => {
    await authenticate(signAhead(ahead));
    expect(await metrics.registry.getSingleMetricAsString("setpoint_tokens_out_of_time_total")).toMatch(
      new RegExp(` ${times}$`, "m"),
    );
  });

  it("shown by a token from the future are counted each time and logged once a minute", async () => {
    for (let n = 0; n < 3; n += 1) await authenticate(signAhead(30, { jwtid: String(n) }));
    expect(await metrics.registry.getSingleMetricAsString("setpoint_tokens_out_of_time_total")).toMatch(/ 3$/m);
    expect(lines.filter((line) => line.includes("of another time"))).toHaveLength(1);
    vi.advanceTimersByTime(60_001);
    await authenticate(signAhead(30));
    expect(lines.filter((line) => line.includes("of another time"))).toHaveLength(2);
  });

  it("are measured at once when a token is from too far in the future", async () => {
    issuerAheadMs = 0;
    await verifier.check();
    vi.advanceTimersByTime(1_001);
    issuerAheadMs = 3_600_000;
    await expectInvalid(signAhead(3_600));
    await settle();
    await expect(verifier.check()).rejects.toThrow("3600 s behind");
  });
});

describe("setting the clock", () => {
  it("back by an hour does not extend a cached token or stop key fetches", async () => {
    const token = sign();
    await authenticate(token);
    vi.setSystemTime(Date.now() - 3_600_000);
    vi.advanceTimersByTime(59_000);
    expect(await authenticate(token)).toEqual(principal);
    vi.advanceTimersByTime(61_001);
    await expectInvalid(token);
    await settle();
    expect(fetches).toBe(2);
    expect(await authenticate(sign())).toEqual(principal);
    published = [second.jwk];
    vi.advanceTimersByTime(60_001);
    await authenticate(sign());
    await settle();
    await expectInvalid(sign());
  });

  it("ahead by 90 seconds does not shorten a cached token", async () => {
    const token = sign();
    await authenticate(token);
    vi.setSystemTime(Date.now() + 90_000);
    vi.advanceTimersByTime(59_000);
    expect(await authenticate(token)).toEqual(principal);
  });
});

describe("readiness", () => {
  it("requires keys, which are fetched and refreshed even without calls", async () => {
    published = new Error("the service cannot be reached", { cause: new Error("connect ECONNREFUSED") });
    await expect(verifier.check()).rejects.toThrow(
      "the keys of access tokens could not be fetched yet: connect ECONNREFUSED",
    );
    published = [first.jwk];
    vi.advanceTimersByTime(5_001);
    await verifier.check();
    await settle();
    await verifier.check();
    published = new Error("down");
    vi.advanceTimersByTime(60_001);
    await verifier.check();
    expect(fetches).toBe(3);
  });
});
