import { readFileSync } from "node:fs";
import type { Server } from "node:tls";
import type { TlsFiles } from "./tls.ts";

interface Certificates {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** Throws if there are none to be had. */
export function readCertificates({ certificateFile, privateKeyFile, caCertificateFile }: TlsFiles): Certificates {
  const ca = readFileSync(caCertificateFile, "utf8");
  // Of an empty one Node would make all the authorities that browsers believe.
  if (!ca.includes("-----BEGIN CERTIFICATE-----")) throw new Error(`${caCertificateFile} holds no certificate`);
  return { cert: readFileSync(certificateFile, "utf8"), key: readFileSync(privateKeyFile, "utf8"), ca };
}

/** Has a server take over files that are replaced; connections that are open stay as they are. Returns what ends it. */
export function renewCertificates(server: Server, tls: TlsFiles, intervalMs: number): () => void {
  let inUse = JSON.stringify(readCertificates(tls));
  const timer = setInterval(() => {
    try {
      const certificates = readCertificates(tls);
      if (JSON.stringify(certificates) === inUse) return;
      server.setSecureContext(certificates);
      inUse = JSON.stringify(certificates);
    } catch {
      // They are just being replaced, one after the other.
    }
  }, intervalMs).unref();
  return () => clearInterval(timer);
}
