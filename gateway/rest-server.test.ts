import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { pino } from "pino";
import { expect, it } from "vitest";
import { ExchangeKeyResponseSchema } from "../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { keyFromBytes } from "../services/platform/auth/key-format.ts";
import { canceled } from "../services/platform/domain/domain-error.ts";
import { Metrics } from "../services/platform/observe/metrics.ts";
import { Health } from "../services/platform/process/health.ts";
import type { Clients } from "./clients/clients.ts";
import { readGatewayConfig } from "./config.ts";
import { InferenceMetrics } from "./inference/inference-metrics.ts";
import { Upstreams } from "./inference/upstreams/upstreams.ts";
import { createRestServer } from "./rest-server.ts";

it("answers 500 if a service reports a canceled call while the client is still connected", async () => {
  const principal = { keyId: "id", permissions: ["presets:read"] };
  const grant = create(ExchangeKeyResponseSchema, {
    accessToken: "token",
    expireTime: timestampFromMs(Date.now() + 60_000),
    expiresInSeconds: 60,
    principal,
  });
  const clients = {
    access: { exchangeKey: async () => grant },
    presets: { getPreset: () => Promise.reject(canceled()) },
  } as unknown as Clients;
  const lines: string[] = [];
  const logger = pino({}, { write: (line) => lines.push(line) });
  const metrics = new Metrics("gateway");
  const { app } = await createRestServer({
    config: readGatewayConfig({}),
    clients,
    upstreams: await Upstreams.open({ file: undefined, environment: {}, logger, onCheck: () => {} }),
    inferenceMetrics: new InferenceMetrics(metrics.registry),
    health: new Health({}, () => false),
    logger,
    metrics,
  });
  const authorization = `Bearer ${keyFromBytes(Buffer.alloc(32, 1))}`;
  const address = await app.listen({ host: "127.0.0.1", port: 0 });
  const { status } = await fetch(`${address}/api/v1/presets/mine`, { headers: { authorization } });
  expect(status).toBe(500);
  expect(lines.join("")).toContain("request failed");
  await app.close();
});
