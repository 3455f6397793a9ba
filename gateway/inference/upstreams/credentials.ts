import { readFile } from "node:fs/promises";
import type { Environment } from "../../../services/platform/process/environment.ts";
import type { CredentialSource } from "./upstreams-file.ts";

/** Why there is no credential, without revealing anything of it. */
export class CredentialFault extends Error {}

/** Reads the secret that a source names. */
export async function readCredential({ env, file }: CredentialSource, environment: Environment): Promise<string> {
  const where = file === undefined ? `the variable ${env}` : `the file ${file}`;
  const text = file === undefined ? (environment[env ?? ""] ?? "") : await readSecretFile(file);
  const secret = text.trim();
  if (secret === "") throw new CredentialFault(`is not there: ${where} is empty or not set`);
  if (!/^[\x21-\x7e]+$/.test(secret)) {
    throw new CredentialFault(`cannot be sent: ${where} must hold one line of ASCII without spaces`);
  }
  // A server that is sent these as a part of the secret refuses it, and may show it in JSON, where they are escaped.
  if (/^(["']).*\1$/.test(secret)) throw new CredentialFault(`cannot be sent: ${where} must hold no quotes around it`);
  return secret;
}

async function readSecretFile(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new CredentialFault(`cannot be read: the file ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}
