import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { describe, expect, it } from "vitest";
import { parseSigningKeys } from "./signing-keys.ts";

function pemOf(privateKey: KeyObject): string {
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

function newKeyPem(namedCurve = "P-256"): string {
  return pemOf(generateKeyPairSync("ec", { namedCurve }).privateKey);
}

const ed25519 = pemOf(generateKeyPairSync("ed25519").privateKey);
const publicKey = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ type: "spki", format: "pem" });
const encrypted = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
  type: "pkcs8",
  format: "pem",
  cipher: "aes-256-cbc",
  passphrase: "x",
});

describe("signing keys", () => {
  it("keep the order of the text, because the first key signs", () => {
    const [a, b] = [newKeyPem(), newKeyPem()];
    const kids = (pem: string) => parseSigningKeys(pem, "KEY").map(({ jwk }) => jwk.kid);
    expect(kids(a + b)).toEqual([...kids(a), ...kids(b)]);
    expect(kids(b + a)).toEqual([...kids(b), ...kids(a)]);
  });

  it("publish nothing private", () => {
    const [{ jwk }] = parseSigningKeys(newKeyPem(), "KEY");
    expect(Object.keys(jwk).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x", "y"]);
  });

  it("are named by their RFC 7638 thumbprint", () => {
    // The example key of RFC 7517, appendix A.2.
    const key = {
      kty: "EC",
      crv: "P-256",
      x: "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
      y: "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
      d: "870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE",
    };
    const [{ jwk }] = parseSigningKeys(pemOf(createPrivateKey({ key, format: "jwk" })), "KEY");
    expect(jwk.kid).toBe("cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s");
  });

  it("accept line breaks written as \\n", () => {
    const pem = newKeyPem();
    const [{ jwk }] = parseSigningKeys(pem.replaceAll("\n", "\\n"), "KEY");
    expect(jwk).toEqual(parseSigningKeys(pem, "KEY")[0].jwk);
  });

  it("accept the output of `openssl ecparam -genkey`", () => {
    const parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";
    const keys = [1, 2].map(() => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey);
    const pem = keys.map((key) => parameters + key.export({ type: "sec1", format: "pem" })).join("");
    expect(parseSigningKeys(pem, "KEY")).toEqual(parseSigningKeys(keys.map(pemOf).join(""), "KEY"));
  });

  it.each([
    ["no PEM at all", "secret", /^KEY must hold a private key/],
    ["another curve", newKeyPem("P-384"), /PEM block 1/],
    ["another kind of key", ed25519, /PEM block 1/],
    ["a public key", publicKey.toString(), /PEM block 1/],
    ["an encrypted key", encrypted.toString(), /PEM block 1/],
    ["a broken key after a good one", newKeyPem() + newKeyPem().replace(/\n..../, "\n@@@@"), /PEM block 2/],
  ])("reject %s", (_name, pem, message) => {
    expect(() => parseSigningKeys(pem, "KEY")).toThrow(message);
  });
});
