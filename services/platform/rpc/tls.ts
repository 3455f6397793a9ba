import { accessSync, constants } from "node:fs";
import { ChannelCredentials, experimental, ServerCredentials } from "@grpc/grpc-js";
import type { EnvironmentReader } from "../process/environment.ts";

/** The files of mutual TLS: who we are, and whom we believe. */
export interface TlsFiles {
  readonly certificateFile: string;
  readonly privateKeyFile: string;
  readonly caCertificateFile: string;
}

/** A renewed certificate is in use this long after its file has changed; connections that are open stay as they are. */
const refreshIntervalMs = 10_000;

/** All three variables, or none: then gRPC goes in clear text. */
export function readTlsFiles(reader: EnvironmentReader): TlsFiles | undefined {
  const certificateFile = reader.optional("GRPC_TLS_CERT_FILE");
  const privateKeyFile = reader.optional("GRPC_TLS_KEY_FILE");
  const caCertificateFile = reader.optional("GRPC_TLS_CA_FILE");
  if (certificateFile && privateKeyFile && caCertificateFile) {
    return { certificateFile, privateKeyFile, caCertificateFile };
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
  if (!tls) return ChannelCredentials.createInsecure();
  const provider = certificateProvider(tls, refreshMs);
  return experimental.createCertificateProviderChannelCredentials(provider, provider);
}

function certificateProvider(tls: TlsFiles, refreshMs: number): experimental.FileWatcherCertificateProvider {
  // The provider itself would wait without a word for a file that is not there.
  for (const file of [tls.certificateFile, tls.privateKeyFile, tls.caCertificateFile]) accessSync(file, constants.R_OK);
  return new experimental.FileWatcherCertificateProvider({ ...tls, refreshIntervalMs: refreshMs });
}
