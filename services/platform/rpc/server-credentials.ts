import { experimental, ServerCredentials } from "@grpc/grpc-js";
import type { TlsFiles } from "./tls.ts";

/** A renewed certificate is in use this long after its file has changed; connections that are open stay as they are. */
const refreshIntervalMs = 10_000;

/** With TLS, a client must show a certificate of the same authority. */
export function serverCredentials(tls: TlsFiles | undefined, refreshMs = refreshIntervalMs): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  const { mode: _, ...files } = tls;
  const provider = new experimental.FileWatcherCertificateProvider({ ...files, refreshIntervalMs: refreshMs });
  return experimental.createCertificateProviderServerCredentials(provider, provider, true);
}
