import { createHash, generateKeyPairSync, type KeyObject } from "node:crypto";
import jwt from "jsonwebtoken";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AccessTokenVerifier } from "./access-token.ts";
import { accessTokenIssuer, claimsFromPrincipal } from "./claims.ts";
import { signJwt, signJwts } from "./es256.ts";
import type { Jwk } from "./key-set.ts";
import type { Principal } from "./principal.ts";
import { decodeProof, encodeProof, proveBatch, rootOf } from "./token-batch.ts";

const [ours, other] = [newPair("ours"), newPair("other")];

interface Pair {
  readonly privateKey: KeyObject;
  readonly kid: string;
  readonly jwk: Jwk;
}

function newPair(kid: string): Pair {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { privateKey, kid, jwk: { ...publicKey.export({ format: "jwk" }), kid } };
}

function principalOf(n: number): Principal {
  return {
    keyId: `key-${n}`,
    keyKind: "api",
    userId: "user_1",
    organizationId: "o",
    workspaceId: "w",
    permissions: ["presets:read"],
  };
}

function claimsOf(n: number, lifeSeconds = 60): object {
  const iat = Math.floor(Date.now() / 1000);
  return { ...claimsFromPrincipal(principalOf(n)), iss: accessTokenIssuer, iat, exp: iat + lifeSeconds };
}

const mint = (count: number, key = ours, lifeSeconds = 60) =>
  signJwts(
    Array.from({ length: count }, (_, n) => claimsOf(n, lifeSeconds)),
    key,
  );

let published: readonly Jwk[];
let verifier: AccessTokenVerifier;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "performance"] });
  published = [ours.jwk];
  verifier = new AccessTokenVerifier(async () => ({ keys: published }));
});

afterEach(() => {
  vi.useRealTimers();
});

const refused = (token: string) =>
  expect(verifier.verify(token)).rejects.toMatchObject({ kind: "unauthenticated", reason: "TOKEN_INVALID" });

/** The token with another header, payload or signature. */
function altered(token: string, change: (header: Record<string, unknown>, payload: Record<string, unknown>) => void) {
  const [header, payload, signature] = token.split(".") as [string, string, string];
  const parts = [header, payload].map((part) => JSON.parse(Buffer.from(part, "base64url").toString()));
  change(parts[0], parts[1]);
  return [...parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")), signature].join(".");
}

describe("tokens signed as a batch", () => {
  it.each([1, 2, 3, 5, 64, 100])("identify each principal: %d of them", async (count) => {
    for (const [n, token] of mint(count).entries()) expect(await verifier.verify(token)).toEqual(principalOf(n));
  });

  it("are verified with one signature check per batch", async () => {
    const [first, second] = mint(3) as [string, string];
    const unsigned = altered(second, (header) => {
      const { proof = [] } = decodeProof(String(header.batch), 64) ?? {};
      header.batch = encodeProof(Buffer.alloc(64), proof);
    });
    await refused(unsigned);
    await verifier.verify(first);
    expect(await verifier.verify(unsigned)).toEqual(principalOf(1));
  });

  it("are valid individually, even for verifiers without batch support", async () => {
    for (const [n, token] of mint(5).entries()) {
      verifier = new AccessTokenVerifier(async () => ({ keys: published }));
      expect(await verifier.verify(token)).toEqual(principalOf(n));
      const key = { key: ours.jwk, format: "jwk" } as unknown as jwt.PublicKey;
      expect(jwt.verify(token, key, { algorithms: ["ES256"] })).toMatchObject({ key: `key-${n}` });
    }
  });

  it("stay within the maximum token length", () => {
    for (const token of mint(100)) expect(token.length).toBeLessThan(1_500);
  });

  it("are rejected with other claims, even once the batch is cached", async () => {
    const tokens = mint(4);
    const forged = altered(tokens[0] as string, (_header, payload) => {
      payload.ws = "another";
    });
    await refused(forged);
    for (const token of tokens) await verifier.verify(token);
    await refused(forged);
  });

  it("are rejected with another token's place in the batch", async () => {
    const [first, second] = mint(4) as [string, string];
    await verifier.verify(first);
    await verifier.verify(second);
    const secondBatch = JSON.parse(Buffer.from(second.split(".")[0] as string, "base64url").toString()).batch;
    await refused(
      altered(first, (header) => {
        header.batch = secondBatch;
      }),
    );
  });

  it("are rejected if the batch was signed by another key or claims to be", async () => {
    published = [ours.jwk, other.jwk];
    const [token] = mint(2, { ...other, kid: ours.kid }) as [string];
    await refused(token);
    const [genuine] = mint(2) as [string];
    await verifier.verify(genuine);
    await refused(
      altered(genuine, (header) => {
        header.kid = other.kid;
      }),
    );
  });

  it("hash payloads and inner nodes differently, so that no node can be passed off as a payload", () => {
    const sha256 = (...parts: readonly (string | Buffer)[]) =>
      parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
    const leaves = ["a", "b"].map((payload) => sha256("\0", payload));
    expect(proveBatch(["a"]).root).toEqual(leaves[0]);
    const root = sha256("\x01", ...leaves.sort(Buffer.compare));
    expect(proveBatch(["a", "b"]).root).toEqual(root);
    expect(rootOf("b", proveBatch(["a", "b"]).proofs[1] ?? [])).toEqual(root);
  });

  it.each([
    ["not a string", 5],
    ["no signature", "AAAA"],
    ["half a hash", Buffer.alloc(64 + 16).toString("base64url")],
    ["longer than any batch's", Buffer.alloc(64 + 11 * 32).toString("base64url")],
  ])("are verified by their own signature if the batch is %s", async (_name, batch) => {
    const header = { alg: "ES256", kid: ours.kid, batch };
    const signed = jwt.sign(claimsOf(1), ours.privateKey, { algorithm: "ES256", header });
    expect(await verifier.verify(signed)).toEqual(principalOf(1));
    // The header is part of what is signed.
    await refused(
      altered(signJwt(claimsOf(1), ours), (changed) => {
        changed.batch = batch;
      }),
    );
  });

  it("become invalid with their key, even if the batch is cached", async () => {
    const [first, second] = mint(2, ours, 3_600) as [string, string];
    await verifier.verify(first);
    published = [other.jwk];
    vi.advanceTimersByTime(1_001);
    await verifier.verify(signJwt(claimsOf(3), other));
    await refused(first);
    await refused(second);
  });

  it("expire individually", async () => {
    const [short, long] = signJwts([claimsOf(0, 60), claimsOf(1, 600)], ours) as [string, string];
    await verifier.verify(long);
    vi.advanceTimersByTime(121_000);
    await expect(verifier.verify(short)).rejects.toMatchObject({ reason: "TOKEN_EXPIRED" });
    expect(await verifier.verify(long)).toEqual(principalOf(1));
  });
});

it("decodes a proof as it was encoded", () => {
  const [signature, hash] = [Buffer.alloc(64, 1), Buffer.alloc(32, 2)];
  expect(decodeProof(encodeProof(signature, [hash, hash]), 64)).toEqual({ signature, proof: [hash, hash] });
});

it.each([0, 63, 65, 64 + 32 - 1, 64 + 11 * 32])("decodes no proof from %i bytes", (bytes) => {
  expect(decodeProof(Buffer.alloc(bytes).toString("base64url"), 64)).toBeUndefined();
});
