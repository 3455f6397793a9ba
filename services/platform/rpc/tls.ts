import type { EnvironmentReader } from "../process/environment.ts";

/**
 * How a cluster gets from clear text to TLS, in steps of which any two neighbours may be mixed: `accept` takes both and
 * calls in clear text, `call` takes both and calls with TLS, `strict` takes and makes no call without TLS.
 */
export type TlsMode = "accept" | "call" | "strict";

/** The files of mutual TLS: our own certificate and key, and the authority that we trust. */
export interface TlsFiles {
  /** Default: strict. */
  readonly mode?: TlsMode;
  readonly certificateFile: string;
  readonly privateKeyFile: string;
  readonly caCertificateFile: string;
}

/** All three variables, or none: then gRPC goes in clear text. */
export function readTlsFiles(reader: EnvironmentReader): TlsFiles | undefined {
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
  } else if (reader.optional("GRPC_TLS_MODE") !== undefined) {
    reader.faults.push(
      "GRPC_TLS_MODE needs GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE and GRPC_TLS_CA_FILE: without them, gRPC goes in clear text",
    );
  }
  return undefined;
}

/** Whether calls are made with TLS, which depends on the mode. */
export function tlsOfCalls(tls: TlsFiles | undefined): TlsFiles | undefined {
  return tls?.mode === "accept" ? undefined : tls;
}
