import { createSign, generateKeyPairSync } from "node:crypto";
import jwt from "jsonwebtoken";
import { describe, expect, it } from "vitest";
import { isSigned, payloadOf, readJwt, signJwt } from "./es256.ts";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const other = generateKeyPairSync("ec", { namedCurve: "P-256" });
/** Of 500 signatures, about two begin with a zero byte in each of their numbers, and half have a high first bit. */
const numbers = Array.from({ length: 500 }, (_, n) => n);

const read = (text: string) => {
  const signed = readJwt(text);
  return signed && isSigned(signed.content, signed.signature, publicKey) ? payloadOf(signed) : undefined;
};

/** A signed token with any header and payload. */
function signed(header: unknown, payload: string): string {
  const content = [JSON.stringify(header), payload].map((part) => Buffer.from(part).toString("base64url")).join(".");
  const signature = createSign("sha256").update(content).sign({ key: privateKey, dsaEncoding: "ieee-p1363" });
  return `${content}.${signature.toString("base64url")}`;
}

describe("an ES256 JWT", () => {
  it("of ours is accepted by jsonwebtoken", () => {
    for (const n of numbers) {
      const token = signJwt({ n, text: "é" }, { privateKey, kid: "k" });
      const { header, payload } = jwt.verify(token, publicKey, { algorithms: ["ES256"], complete: true });
      expect([header, payload]).toEqual([
        { alg: "ES256", typ: "JWT", kid: "k" },
        { n, text: "é" },
      ]);
    }
  });

  it("of jsonwebtoken is accepted by us", () => {
    for (const n of numbers) {
      const token = jwt.sign({ n, text: "é" }, privateKey, { algorithm: "ES256", keyid: "k", noTimestamp: true });
      expect(readJwt(token)?.kid).toBe("k");
      expect(read(token)).toEqual({ n, text: "é" });
    }
  });

  it("is rejected if signed by another key or changed in any byte", () => {
    expect(read(signJwt({}, { privateKey: other.privateKey, kid: "k" }))).toBeUndefined();
    const token = signJwt({ sub: "a" }, { privateKey, kid: "k" });
    for (let at = 0; at < token.length - 1; at += 1) {
      const changed = `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;
      expect(read(changed), `character ${at}`).toBeUndefined();
    }
  });

  it.each([
    ["signature of zeros", (content: string) => `${content}.${"A".repeat(86)}`],
    ["signature of ones", (content: string) => `${content}.${"_".repeat(85)}w`],
    ["short signature", (content: string, signature: string) => `${content}.${signature.slice(0, -2)}`],
    ["long signature", (content: string, signature: string) => `${content}.${signature}AA`],
    ["padded signature", (content: string, signature: string) => `${content}.${signature}==`],
    [
      "signature in DER",
      (content: string) => `${content}.${createSign("sha256").update(content).sign(privateKey, "base64url")}`,
    ],
    ["fourth part", (content: string, signature: string) => `${content}.${signature}.A`],
    ["trailing line break", (content: string, signature: string) => `${content}.${signature}\n`],
  ])("is rejected with a %s", (_name, change) => {
    const token = signJwt({ sub: "a" }, { privateKey, kid: "k" });
    const end = token.lastIndexOf(".");
    expect(read(change(token.slice(0, end), token.slice(end + 1)))).toBeUndefined();
  });

  it.each<[string, unknown, string]>([
    ["another algorithm", { alg: "ES384", kid: "k" }, "{}"],
    ["no algorithm", { kid: "k" }, "{}"],
    ["no key id", { alg: "ES256" }, "{}"],
    ["a header that is null", null, "{}"],
    ["a critical extension", { alg: "ES256", kid: "k", crit: ["b64"], b64: false }, "{}"],
    ["a payload that is not JSON", { alg: "ES256", kid: "k" }, "secret"],
  ])("is rejected with %s, even if signed", (_name, header, payload) => {
    expect(read(signed(header, payload))).toBeUndefined();
  });
});
