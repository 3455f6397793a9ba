import { PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { AccessTokenVerifier } from "../platform/auth/access-token.ts";
import { openPool, stalledAfterSeconds } from "../platform/mysql/pool.ts";
import { schemaIsCurrent } from "../platform/mysql/schema.ts";
import type { Logger } from "../platform/observe/logger.ts";
import { Metrics } from "../platform/observe/metrics.ts";
import { openTracer } from "../platform/observe/open-tracer.ts";
import type { Lifecycle } from "../platform/process/lifecycle.ts";
import { type BoundPorts, openServers } from "../platform/rpc/servers.ts";
import { serveService } from "../platform/rpc/service.ts";
import type { PresetConfig } from "./config.ts";
import { openKeySource } from "./key-source.ts";
import { presetService } from "./rpc/preset-service.ts";
import { PresetLists } from "./store/preset-lists.ts";
import { PresetReader } from "./store/preset-reader.ts";
import { VersionWriter } from "./store/version-writer.ts";

export const presetMigrations = new URL("./store/migrations/", import.meta.url);

/** How many PATCH transactions run at once; more wait. */
const updatesMax = 4;

/** Opens all parts of the preset service; the lifecycle closes them again. */
export async function openPresetService(
  config: PresetConfig,
  logger: Logger,
  lifecycle: Lifecycle,
): Promise<BoundPorts> {
  const metrics = new Metrics("preset");
  const tracer = await openTracer("preset", { ...config, logger }, lifecycle);
  // If the tables are sharded, we talk to Vitess.
  const options = { metrics, ...(config.batchByWorkspace && { protocol: "text" as const }) };
  const changing = { ...options, transactionSilenceMaxSeconds: stalledAfterSeconds };
  const pool = openPool(config.databaseUrl, config.databasePoolSize, { ...options, isForReads: true });
  lifecycle.opened("database pool", () => pool.end());
  // The writers have their own connections, so that a crowd of other calls cannot delay them.
  const writerPool = openPool(config.databaseUrl, VersionWriter.connectionsMax, changing);
  lifecycle.opened("writer pool", () => writerPool.end());
  const writer = new VersionWriter(writerPool, { ...config, observer: metrics.watchBatches("creations") });
  // Changes of one preset wait for each other in the database; with a pool of their own, they take no connections from
  // others.
  const updatePool = openPool(config.databaseUrl, updatesMax, changing);
  lifecycle.opened("update pool", () => updatePool.end());
  const listPool = config.readDatabaseUrl
    ? openPool(config.readDatabaseUrl, config.databasePoolSize, { ...options, isForReads: true })
    : pool;
  if (listPool !== pool) lifecycle.opened("list pool", () => listPool.end());
  metrics.watchPools({
    reads: pool,
    creations: writerPool,
    changes: updatePool,
    ...(listPool !== pool && { lists: listPool }),
  });
  lifecycle.stopping(() => {
    for (const each of [pool, writerPool, updatePool, listPool]) each.shrink();
  });
  const reader = new PresetReader(pool, { ...config, observer: metrics.watchBatches("reads") });
  const store = { updatePool, lists: new PresetLists(pool, listPool), reader, writer };
  const verifier = new AccessTokenVerifier(openKeySource(config, lifecycle), { logger, metrics });
  return openServers(lifecycle, {
    ...config,
    logger,
    metrics,
    services: [
      serveService(PresetService, presetService(store), {
        logger,
        metrics,
        verifier,
        tracer,
        largeMethods: ["createVersion", "batchCreateVersions"],
      }),
    ],
    readinessChecks: {
      "the database": schemaIsCurrent(pool, presetMigrations),
      "the organization service": () => verifier.check(),
    },
    operations: {},
  });
}
