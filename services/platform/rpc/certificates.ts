import { readFileSync } from "node:fs";
import type { Server } from "node:tls";
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
export function renewCertificates(server: Server, tls: TlsFiles, intervalMs: number): () => void {
  let inUse = JSON.stringify(readCertificates(tls));
  const timer = setInterval(() => {
    try {
      const certificates = readCertificates(tls);
      if (JSON.stringify(certificates) === inUse) return;
      server.setSecureContext(certificates);
      inUse = JSON.stringify(certificates);
    } catch {
      // The files are being replaced, one after the other.
    }
  }, intervalMs).unref();
  return () => clearInterval(timer);
}
