import { generateKeyPairSync } from "node:crypto";
import { type Logger, pino } from "pino";
import { openGateway } from "../../gateway/app.ts";
import { type GatewayConfig, readGatewayConfig } from "../../gateway/config.ts";
import { openOrganizationService } from "../../services/organization/app.ts";
import { type OrganizationConfig, readOrganizationConfig } from "../../services/organization/config.ts";
import { openPool, type Pool } from "../../services/platform/mysql/pool.ts";
import { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import type { BoundPorts } from "../../services/platform/rpc/servers.ts";
import { openPresetService } from "../../services/preset/app.ts";
import { type PresetConfig, readPresetConfig } from "../../services/preset/config.ts";
import { isSharded } from "./database.ts";
import { createOrganizationDatabase } from "./organization-database.ts";
import { nextPort } from "./ports.ts";
import { createPresetDatabase } from "./preset-database.ts";
import { type Answer, type RequestParts, request } from "./rest.ts";
import { type Tenant, Tenants } from "./tenants.ts";

const host = "127.0.0.1";

/** The whole system inside the test process, on free ports, with databases of its own and one organization. */
export interface Stack extends Tenant {
  readonly organization: Part<OrganizationConfig>;
  readonly preset: Part<PresetConfig>;
  readonly gateway: Part<GatewayConfig>;
  readonly tenants: Tenants;
  readonly organizationPool: Pool;
  readonly presetPool: Pool;
  readonly baseUrl: string;
  readonly metricsUrl: string;
  /** Everything that the three have logged so far, as JSON lines. */
  log(): string;
  /** Sends a request to the gateway; the path is relative to `/api/v1`. */
  request<Data>(method: string, path: string, parts?: RequestParts): Promise<Answer<Data>>;
  /** Creates a version from a chat-completions body, with the organization's API key unless the parts say otherwise. */
  create(slug: string, body?: unknown, parts?: CreationParts): Promise<Answer>;
  close(): Promise<void>;
}

export interface CreationParts extends RequestParts {
  readonly dialect?: "chat/completions" | "messages" | "responses";
  readonly query?: string;
}

interface StackOptions {
  readonly organization?: Partial<OrganizationConfig>;
  readonly preset?: Partial<PresetConfig>;
  readonly gateway?: Partial<GatewayConfig>;
}

/** One process of the system. After a restart, it has the same ports. */
interface Part<Config> {
  readonly config: Config;
  start(change?: Partial<Config>): Promise<void>;
  /** Keeps serving for the delay first. The default is none. */
  stop(shutdownDelayMs?: number): Promise<void>;
}

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const [organizationDatabase, presetDatabase] = await Promise.all([
    createOrganizationDatabase(),
    createPresetDatabase(),
  ]);
  const lines: string[] = [];
  // A line is put together from parts, and would keep each of them, which takes four times as much.
  const keep = (line: string) => lines.push(Buffer.from(line).toString());
  const logger = pino({ level: "info" }, { write: keep });
  const common = { HOST: host, DRAIN_TIMEOUT_MS: "500" };
  // While a part is stopped, its ports must not be given to anybody else.
  const port = async () => String(await nextPort());

  const organization = await startPart(logger, boundTo(openOrganizationService), {
    ...readOrganizationConfig({
      ...common,
      ORGANIZATION_GRPC_PORT: await port(),
      ORGANIZATION_HTTP_PORT: await port(),
      ORGANIZATION_DATABASE_URL: organizationDatabase.url,
      SIGNING_KEY: newSigningKeyPem(),
    }),
    ...options.organization,
  });
  const preset = await startPart(logger, boundTo(openPresetService), {
    ...readPresetConfig({
      ...common,
      PRESET_GRPC_PORT: await port(),
      PRESET_HTTP_PORT: await port(),
      PRESET_DATABASE_URL: presetDatabase.url,
      ORGANIZATION_GRPC_TARGET: `${host}:${organization.config.grpcPort}`,
      PRESET_BATCH_BY_WORKSPACE: String(isSharded),
    }),
    ...options.preset,
  });
  const closeServices = async () => {
    for (const part of [preset, organization]) await part.stop();
    await Promise.all([organizationDatabase.drop(), presetDatabase.drop()]);
  };
  const gateway = await startPart(logger, openGateway, {
    ...readGatewayConfig({
      ...common,
      PORT: await port(),
      METRICS_PORT: await port(),
      PRESET_GRPC_TARGET: `${host}:${preset.config.grpcPort}`,
      ORGANIZATION_GRPC_TARGET: `${host}:${organization.config.grpcPort}`,
      // A suite causes more refused keys than anybody should; tests of this limit set it themselves.
      REFUSED_KEY_RATE_LIMIT: "0",
    }),
    ...options.gateway,
  }).catch(async (error: unknown) => {
    await closeServices();
    throw error;
  });

  const organizationPool = openPool(organizationDatabase.url, 2);
  const presetPool = openPool(presetDatabase.url, 2);
  const tenants = new Tenants(organizationPool);
  const tenant = await tenants.createOrganization();
  const baseUrl = `http://${host}:${gateway.config.port}`;

  return {
    ...tenant,
    organization,
    preset,
    gateway,
    tenants,
    organizationPool,
    presetPool,
    baseUrl,
    metricsUrl: `http://${host}:${gateway.config.metricsPort}/metrics`,
    log: () => lines.join(""),
    request: (method, path, parts) => request(method, `${baseUrl}/api/v1${path}`, parts),
    create: (slug, body = { messages: [] }, { dialect = "chat/completions", query = "", ...parts } = {}) =>
      request("POST", `${baseUrl}/api/v1/presets/${slug}/${dialect}${query}`, { key: tenant.apiKey, body, ...parts }),
    close: async () => {
      await gateway.stop();
      await Promise.all([organizationPool.end(), presetPool.end()]);
      await closeServices();
    },
  };
}

export function newSigningKeyPem(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

type Open<Config, Bound> = (config: Config, logger: Logger, lifecycle: Lifecycle) => Promise<Bound>;

/** Names the ports of a service as its config does. */
function boundTo<Config>(open: Open<Config, BoundPorts>): Open<Config, { grpcPort: number; httpPort: number }> {
  return async (...parts) => {
    const { grpc, http } = await open(...parts);
    return { grpcPort: grpc, httpPort: http };
  };
}

async function startPart<Config extends object>(
  logger: Logger,
  open: Open<Config, Partial<Config>>,
  initialConfig: Config,
): Promise<Part<Config>> {
  let config = initialConfig;
  let lifecycle: Lifecycle;
  const start = async (change: Partial<Config> = {}): Promise<void> => {
    lifecycle = new Lifecycle(logger);
    config = { ...config, ...change };
    try {
      config = { ...config, ...(await open(config, logger, lifecycle)) };
    } catch (error) {
      // As a process does whose start fails: what it has opened must not outlive it.
      await lifecycle.close();
      throw error;
    }
  };
  await start();
  return {
    get config() {
      return config;
    },
    start,
    stop: (shutdownDelayMs = 0) => lifecycle.shutDown(shutdownDelayMs),
  };
}
