import { generateKeyPairSync } from "node:crypto";
import { existsSync } from "node:fs";
import { writePrivateFile } from "./private-file.ts";

/** On the first start, creates the key that signs access tokens. Returns whether it did. */
export function ensureSigningKey(file: string): boolean {
  if (existsSync(file)) return false;
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  writePrivateFile(file, privateKey.export({ type: "pkcs8", format: "pem" }).toString());
  return true;
}
