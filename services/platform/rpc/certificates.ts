import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext, type SecureContext } from "node:tls";
import type { Logger } from "../observe/logger.ts";
import type { TlsFiles } from "./tls.ts";

interface Certificates {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** A replaced certificate is in use after at most this time. */
export const renewalIntervalMs = 10_000;

const certificateStart = "-----BEGIN CERTIFICATE-----";

/** Throws if they cannot be read, or lack something. */
export function readCertificates({ certificateFile, privateKeyFile, caCertificateFile }: TlsFiles): Certificates {
  const ca = readCertificateFile(caCertificateFile);
  const cert = readCertificateFile(certificateFile);
  const key = readFileSync(privateKeyFile, "utf8");
  if (!key.includes("PRIVATE KEY-----")) throw new Error(`${privateKeyFile} holds no private key`);
  return { cert, key, ca };
}

/**
 * Node ignores what is missing, as in a file that is just being written: it would then trust nobody or, given an empty
 * file, all the authorities that browsers trust, or have no certificate of its own.
 */
function readCertificateFile(file: string): string {
  const text = readFileSync(file, "utf8");
  const [, ...certificates] = text.split(certificateStart);
  if (certificates.length === 0) throw new Error(`${file} holds no certificate`);
  try {
    for (const certificate of certificates) new X509Certificate(certificateStart + certificate);
  } catch (error) {
    throw new Error(`${file} holds a certificate that cannot be read: ${(error as Error).message}`);
  }
  return text;
}

const lastUsable = new WeakMap<TlsFiles, SecureContext>();

/** For a new connection: the certificates as they are now or, while they cannot be used, as they last could. */
export function contextOfCalls(tls: TlsFiles): SecureContext {
  try {
    const context = createSecureContext(readCertificates(tls));
    lastUsable.set(tls, context);
    return context;
  } catch (error) {
    const last = lastUsable.get(tls);
    if (!last) throw error;
    return last;
  }
}

/**
 * Passes on the certificates whenever the files are replaced, and says in the log if they cannot be used. Returns a
 * function that ends it.
 */
export function watchCertificates(
  tls: TlsFiles,
  use: (certificates: Certificates) => void,
  intervalMs: number,
  logger: Logger,
): () => void {
  let inUse = "";
  let failures = 0;
  const timer = setInterval(() => {
    try {
      const certificates = readCertificates(tls);
      const text = JSON.stringify(certificates);
      if (text !== inUse) use(certificates);
      inUse = text;
      failures = 0;
    } catch (error) {
      failures += 1;
      // The first time, the files may just be being replaced, one after the other.
      if (failures === 2) logger.error({ err: error }, "the certificates cannot be renewed; those in use stay");
    }
  }, intervalMs).unref();
  return () => clearInterval(timer);
}
