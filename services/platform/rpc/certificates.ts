import { readFileSync } from "node:fs";
import type { Server } from "node:tls";
import type { Logger } from "../observe/logger.ts";
import type { TlsFiles } from "./tls.ts";

interface Certificates {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** Throws if they cannot be read. */
export function readCertificates({ certificateFile, privateKeyFile, caCertificateFile }: TlsFiles): Certificates {
  const ca = readFileSync(caCertificateFile, "utf8");
  // Given an empty file, Node would trust all the authorities that browsers trust.
  if (!ca.includes("-----BEGIN CERTIFICATE-----")) throw new Error(`${caCertificateFile} holds no certificate`);
  return { cert: readFileSync(certificateFile, "utf8"), key: readFileSync(privateKeyFile, "utf8"), ca };
}

/**
 * Makes a server reload files that are replaced; open connections stay as they are. Returns a function that ends it.
 */
export function renewCertificates(server: Server, tls: TlsFiles, intervalMs: number, logger: Logger): () => void {
  let inUse = JSON.stringify(readCertificates(tls));
  let failures = 0;
  const timer = setInterval(() => {
    try {
      const certificates = readCertificates(tls);
      if (JSON.stringify(certificates) !== inUse) server.setSecureContext(certificates);
      inUse = JSON.stringify(certificates);
      failures = 0;
    } catch (error) {
      failures += 1;
      // The first time, the files may just be being replaced, one after the other.
      if (failures === 2) logger.error({ err: error }, "the certificates cannot be renewed; those in use stay");
    }
  }, intervalMs).unref();
  return () => clearInterval(timer);
}
