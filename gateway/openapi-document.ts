import { pino } from "pino";
import { Metrics } from "../services/platform/observe/metrics.ts";
import { Health } from "../services/platform/process/health.ts";
import { Lifecycle } from "../services/platform/process/lifecycle.ts";
import { openClients } from "./clients/clients.ts";
import { readGatewayConfig } from "./config.ts";
import { InferenceMetrics } from "./inference/inference-metrics.ts";
import { Upstreams } from "./inference/upstreams/upstreams.ts";
import { createRestServer } from "./rest-server.ts";

/** The text of `/openapi.json`, from a gateway that does not listen and calls nothing. */
export async function openApiDocument(): Promise<string> {
  const config = readGatewayConfig({});
  const logger = pino({ level: "error" }, pino.destination(2));
  const lifecycle = new Lifecycle(logger);
  const metrics = new Metrics("gateway");
  const clients = openClients(config, lifecycle, metrics);
  const health = new Health({}, () => false);
  const inferenceMetrics = new InferenceMetrics(metrics.registry);
  const upstreams = await Upstreams.open({ file: undefined, environment: {}, logger, onCheck: () => {} });
  const { app } = await createRestServer({ config, clients, upstreams, inferenceMetrics, health, logger, metrics });
  lifecycle.opened("rest server", () => app.close());
  const { statusCode, body } = await app.inject("/openapi.json");
  await lifecycle.close();
  if (statusCode !== 200) throw new Error(`There is no document: ${body}`);
  return body;
}
