import { generateKeyPairSync } from "node:crypto";
import jwt from "jsonwebtoken";
import { pino } from "pino";
import { PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { AccessTokenVerifier } from "../../services/platform/auth/access-token.ts";
import { accessTokenIssuer, claimsFromPrincipal } from "../../services/platform/auth/claims.ts";
import { Metrics } from "../../services/platform/observe/metrics.ts";
import { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import type { CallBytes } from "../../services/platform/rpc/call-bytes.ts";
import { openServers } from "../../services/platform/rpc/servers.ts";
import { type Implementation, serveService } from "../../services/platform/rpc/service.ts";

/** The servers of the preset service, with methods that the test provides. */
export interface StubService {
  readonly grpcPort: number;
  readonly httpPort: number;
  /** An access token that it accepts. */
  readonly token: string;
  /** What it has logged so far, as JSON lines. */
  readonly lines: readonly string[];
  readonly metrics: Metrics;
  /** How many calls have ended with this code. */
  counted(rpc: string, code: string): Promise<number>;
  close(): Promise<void>;
}

interface StubOptions {
  /** Missing methods answer with an empty message. */
  readonly methods?: Partial<Implementation<typeof PresetService>>;
  readonly callBytes?: ConstructorParameters<typeof CallBytes>[0];
}

export async function openStubService({ methods = {}, callBytes = {} }: StubOptions = {}): Promise<StubService> {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const principal = { keyId: "key", keyKind: "api", userId: "user", permissions: [] } as const;
  const claims = claimsFromPrincipal({ ...principal, organizationId: undefined, workspaceId: undefined });
  const token = jwt.sign(claims, privateKey, {
    algorithm: "ES256",
    keyid: "test",
    issuer: accessTokenIssuer,
    expiresIn: 600,
  });
  const largeMethods = ["createVersion", "batchCreateVersions"] as const;
  const lines: string[] = [];
  const metrics = new Metrics("test");
  const logger = pino({ level: "debug" }, { write: (line) => lines.push(line) });
  const verifier = new AccessTokenVerifier(async () => ({
    keys: [{ ...publicKey.export({ format: "jwk" }), kid: "test" }],
  }));
  const empty = Object.fromEntries(PresetService.methods.map(({ localName }) => [localName, async () => ({})]));
  const implementation = { ...empty, ...methods } as Implementation<typeof PresetService>;
  const lifecycle = new Lifecycle(logger);
  const ports = await openServers(lifecycle, {
    host: "127.0.0.1",
    logLevel: "info",
    shutdownDelayMs: 0,
    drainTimeoutMs: 0,
    grpcTls: undefined,
    traces: undefined,
    grpcPort: 0,
    httpPort: 0,
    services: [serveService(PresetService, implementation, { logger, metrics, verifier, largeMethods })],
    readinessChecks: {},
    operations: {},
    logger,
    metrics,
    callBytes,
  });
  return {
    grpcPort: ports.grpc,
    httpPort: ports.http,
    token,
    lines,
    metrics,
    counted: async (rpc, code) => {
      const page = await metrics.registry.metrics();
      return Number(new RegExp(`_count\\{.*operation="${rpc}",outcome="${code}"\\} (\\d+)`).exec(page)?.[1] ?? 0);
    },
    close: () => lifecycle.close(),
  };
}
