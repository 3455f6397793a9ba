import { ChannelCredentials, experimental, ServerCredentials } from "@grpc/grpc-js";
import type { EnvironmentReader } from "../process/environment.ts";

/**
 * How a cluster gets from clear text to TLS, in steps of which any two neighbours may be mixed: `accept` takes both and
 * calls in clear text, `call` takes both and calls with TLS, `strict` takes and makes no call without TLS.
 */
export type TlsMode = "accept" | "call" | "strict";

/** The files of mutual TLS: who we are, and whom we believe. */
export interface TlsFiles {
  /** Default: strict. */
  readonly mode?: TlsMode;
  readonly certificateFile: string;
  readonly privateKeyFile: string;
  readonly caCertificateFile: string;
}

/** A renewed certificate is in use this long after its file has changed; connections that are open stay as they are. */
const refreshIntervalMs = 10_000;

/** All three variables, or none: then gRPC goes in clear text. */
export function readTlsFiles(reader: EnvironmentReader): TlsFiles | undefined {
  // grpc-js would wait without a word for a file that is not there.
  const certificateFile = reader.optionalFile("GRPC_TLS_CERT_FILE");
  const privateKeyFile = reader.optionalFile("GRPC_TLS_KEY_FILE");
  const caCertificateFile = reader.optionalFile("GRPC_TLS_CA_FILE");
  const mode = reader.oneOf<TlsMode>("GRPC_TLS_MODE", ["accept", "call", "strict"], "strict");
  if (certificateFile && privateKeyFile && caCertificateFile) {
    return { mode, certificateFile, privateKeyFile, caCertificateFile };
  }
  if (certificateFile || privateKeyFile || caCertificateFile) {
    reader.faults.push(
      "GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE and GRPC_TLS_CA_FILE must be set together, or not at all",
    );
  }
  return undefined;
}

/** With TLS, a client must show a certificate of the same authority. */
export function serverCredentials(tls: TlsFiles | undefined, refreshMs = refreshIntervalMs): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  const provider = certificateProvider(tls, refreshMs);
  return experimental.createCertificateProviderServerCredentials(provider, provider, true);
}

export function channelCredentials(tls: TlsFiles | undefined, refreshMs = refreshIntervalMs): ChannelCredentials {
  if (!tls || tls.mode === "accept") return ChannelCredentials.createInsecure();
  const provider = certificateProvider(tls, refreshMs);
  return experimental.createCertificateProviderChannelCredentials(provider, provider);
}

function certificateProvider(
  { mode: _, ...files }: TlsFiles,
  refreshMs: number,
): experimental.FileWatcherCertificateProvider {
  return new experimental.FileWatcherCertificateProvider({ ...files, refreshIntervalMs: refreshMs });
}
