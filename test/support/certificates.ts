import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TlsFiles } from "../../services/platform/rpc/tls.ts";

/** Issues certificates for this machine. Implemented here, because not every machine has the openssl command. */
export interface Authority {
  /** Writes a new certificate, its key and the authority's own certificate into a folder, replacing existing ones. */
  issue(folder: string): TlsFiles;
  /** The same key with a new certificate. */
  renew(): Authority;
}

export function createAuthority(name: string, { publicKey, privateKey } = newKeyPair()): Authority {
  const own = certificate({ subject: name, issuer: name, publicKey, extension: isAuthority }, privateKey);
  return {
    issue: (folder) => {
      const pair = newKeyPair();
      const extension = standsForThisMachine;
      const issued = certificate({ subject: "test", issuer: name, publicKey: pair.publicKey, extension }, privateKey);
      const files = {
        certificateFile: join(folder, "tls.crt"),
        privateKeyFile: join(folder, "tls.key"),
        caCertificateFile: join(folder, "ca.crt"),
      };
      mkdirSync(folder, { recursive: true });
      replaceFile(files.certificateFile, issued);
      replaceFile(files.privateKeyFile, pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString());
      replaceFile(files.caCertificateFile, own);
      return files;
    },
    renew: () => createAuthority(name, { publicKey, privateKey }),
  };
}

/** Readers see the old content or the new, never a part. */
function replaceFile(file: string, content: string): void {
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}

function newKeyPair(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

// The minimum of X.509 (RFC 5280) in DER: each value is a tag, a length and its content.

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Buffer[]) => der(0x30, ...parts);
const octets = (content: Buffer) => der(0x04, content);
const bits = (content: Buffer) => der(0x03, Buffer.from([0]), content);
const text = (tag: number, content: string) => der(tag, Buffer.from(content, "latin1"));
const identifier = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const yes = der(0x01, Buffer.from([0xff]));

const ecdsaWithSha256 = sequence(identifier("2a8648ce3d040302"));
const commonName = identifier("550403");
const isAuthority = sequence(identifier("551d13"), yes, octets(sequence(yes)));
const standsForThisMachine = sequence(
  identifier("551d11"),
  octets(sequence(der(0x87, Buffer.from([127, 0, 0, 1])), text(0x82, "localhost"))),
);

interface CertificateParts {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly extension: Buffer;
}

/** A certificate in PEM, valid from an hour ago until tomorrow. */
function certificate({ subject, issuer, publicKey, extension }: CertificateParts, issuerKey: KeyObject): string {
  const nameOf = (value: string) => sequence(der(0x31, sequence(commonName, text(0x0c, value))));
  const timeOf = (ms: number) => text(0x17, new Date(ms).toISOString().replaceAll(/^..|[-:T]|\.\d+/g, ""));
  const serial = Buffer.concat([Buffer.from([1]), randomBytes(8)]);
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ecdsaWithSha256,
    nameOf(issuer),
    sequence(timeOf(Date.now() - 3_600_000), timeOf(Date.now() + 86_400_000)),
    nameOf(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(extension)),
  );
  const whole = sequence(signed, ecdsaWithSha256, bits(sign("sha256", signed, issuerKey)));
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
