import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { KeyService } from "../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import { OrganizationService } from "../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { SessionService } from "../../proto/gen/setpoint/organization/v1/session_service_pb.ts";
import { WorkspaceService } from "../../proto/gen/setpoint/organization/v1/workspace_service_pb.ts";
import { AccessTokenVerifier } from "../platform/auth/access-token.ts";
import { json } from "../platform/http/operations.ts";
import { openPool, stalledAfterSeconds } from "../platform/mysql/pool.ts";
import { schemaIsCurrent } from "../platform/mysql/schema.ts";
import type { Logger } from "../platform/observe/logger.ts";
import { Metrics } from "../platform/observe/metrics.ts";
import { openTracer } from "../platform/observe/open-tracer.ts";
import type { Lifecycle } from "../platform/process/lifecycle.ts";
import { type BoundPorts, openServers } from "../platform/rpc/servers.ts";
import { serveOpenService, serveService } from "../platform/rpc/service.ts";
import type { OrganizationConfig } from "./config.ts";
import { accessService } from "./rpc/access-service.ts";
import { administration } from "./rpc/administration.ts";
import { keyService } from "./rpc/key-service.ts";
import { organizationService } from "./rpc/organization-service.ts";
import { sessionService } from "./rpc/session-service.ts";
import { workspaceService } from "./rpc/workspace-service.ts";
import { updateKeysLastUsed } from "./store/keys.ts";
import { LastUseRecorder } from "./store/last-use-recorder.ts";
import { updateSessionsLastUsed } from "./store/sessions.ts";

/** How many changes run at once. */
const changesMax = 2;

export const organizationMigrations = new URL("./store/migrations/", import.meta.url);

/** Opens all parts of the organization service; the lifecycle closes them again. */
export async function openOrganizationService(
  config: OrganizationConfig,
  logger: Logger,
  lifecycle: Lifecycle,
): Promise<BoundPorts> {
  const metrics = new Metrics("organization");
  const tracer = await openTracer("organization", { ...config, logger }, lifecycle);
  const pool = openPool(config.databaseUrl, config.databasePoolSize, { metrics, isForReads: true });
  lifecycle.opened("database pool", () => pool.end());
  // Changes of one organization wait for each other in the database; with a pool of their own, they take no connections
  // from others.
  const changing = { metrics, transactionSilenceMaxSeconds: stalledAfterSeconds };
  const changePool = openPool(config.databaseUrl, changesMax, changing);
  lifecycle.opened("change pool", () => changePool.end());
  metrics.watchPools({ reads: pool, changes: changePool });
  lifecycle.stopping(() => {
    for (const each of [pool, changePool]) each.shrink();
  });
  const keyUse = new LastUseRecorder("keys", (...use) => updateKeysLastUsed(pool, ...use), logger);
  const sessionUse = new LastUseRecorder("sessions", (...use) => updateSessionsLastUsed(pool, ...use), logger);
  const jwks = config.signingKeys.map(({ jwk }) => jwk);
  const verifier = new AccessTokenVerifier(async () => ({ keys: jwks, timeMs: Date.now() }), { logger, metrics });
  const access = accessService({
    pool,
    keyUse,
    sessionUse,
    signingKeys: config.signingKeys,
    ttlSeconds: config.accessTokenTtlSeconds,
  });
  const administered = administration({ pool, changePool });
  const parts = { logger, metrics, verifier, tracer };
  return openServers(lifecycle, {
    ...config,
    logger,
    metrics,
    services: [
      serveOpenService(AccessService, access, { logger, metrics, tracer }),
      serveOpenService(SessionService, sessionService(pool), { logger, metrics, tracer }),
      serveService(KeyService, keyService(pool, administered), parts),
      serveService(WorkspaceService, workspaceService(administered), parts),
      serveService(OrganizationService, organizationService(pool, administered), parts),
    ],
    readinessChecks: { "the database": schemaIsCurrent(pool, organizationMigrations) },
    operations: { "/.well-known/jwks.json": async () => json(200, { keys: jwks }) },
  });
}
