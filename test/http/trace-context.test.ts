import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { silentLogger } from "../../services/platform/observe/logger.ts";
import { openTracer } from "../../services/platform/observe/open-tracer.ts";
import { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import { HostileUpstream } from "../support/hostile-upstream.ts";
import { entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

let upstream: HostileUpstream;
let stack: InferenceStack;

beforeAll(async () => {
  upstream = await HostileUpstream.start();
  stack = await startInferenceStack({ upstreams: [entryOf(upstream)] });
  await stack.create("any", { model: "m", messages: [] });
});

afterAll(async () => {
  await stack.close();
  await upstream.stop();
});

beforeEach(() => upstream.reset());

function linesOf(requestId: string): Record<string, unknown>[] {
  const lines = stack.log().trim().split("\n");
  return lines.map((line) => JSON.parse(line)).filter((line) => line.request_id === requestId);
}

describe("with tracing off", () => {
  it("forwards the caller's trace context to the services unchanged", async () => {
    const headers = { traceparent, tracestate: "vendor=1", "x-request-id": "passed" };
    await stack.request("GET", "/presets/any", { key: stack.apiKey, headers });
    expect(linesOf("passed").map((line) => [line.msg, line.trace_id])).toEqual([
      ["rpc", traceId],
      ["request", traceId],
    ]);
  });

  it("forwards the caller's trace context to the upstream unchanged", async () => {
    const headers = { traceparent, tracestate: "vendor=1" };
    await (await stack.send("chat/completions", { model: "m" }, { headers })).text();
    expect(upstream.last.headers).toMatchObject({ traceparent, tracestate: "vendor=1" });
  });

  it("sends no trace context if the caller has none", async () => {
    await (await stack.send("chat/completions", { model: "m" }, { headers: { tracestate: "vendor=1" } })).text();
    expect(upstream.last.headers).not.toHaveProperty("traceparent");
    expect(upstream.last.headers).not.toHaveProperty("tracestate");
    await stack.request("GET", "/presets/any", { key: stack.apiKey, headers: { "x-request-id": "none" } });
    expect(linesOf("none").map((line) => line.trace_id)).toEqual([undefined, undefined]);
  });

  it.each([
    ["a malformed traceparent", "00-malformed-01"],
    ["a traceparent of zeros", `00-${"0".repeat(32)}-${"0".repeat(16)}-01`],
    ["two", `${traceparent}, ${traceparent}`],
  ])("ignores %s and serves the request", async (_, malformed) => {
    const headers = { traceparent: malformed, tracestate: "vendor=1" };
    const answer = await stack.send("chat/completions", { model: "m" }, { headers });
    expect(answer.status).toBe(200);
    await answer.text();
    expect(upstream.last.headers).not.toHaveProperty("traceparent");
    expect(upstream.last.headers).not.toHaveProperty("tracestate");
  });

  it("logs the trace id of a Connect caller", async () => {
    const { httpPort } = stack.preset.config;
    const url = `http://127.0.0.1:${httpPort}/${PresetService.typeName}/GetPreset`;
    const headers = { "content-type": "application/json", traceparent, "x-request-id": "connect" };
    expect((await fetch(url, { method: "POST", body: "{}", headers })).status).toBe(401);
    expect(linesOf("connect").map((line) => [line.code, line.trace_id])).toEqual([["UNAUTHENTICATED", traceId]]);
  });

  it("opens no tracer", async () => {
    const parts = { traces: undefined, drainTimeoutMs: 0, logger: silentLogger() };
    expect(await openTracer("gateway", parts, new Lifecycle(parts.logger))).toBeUndefined();
  });
});

/** Whether the trace recorder is loaded by a process that opens and closes a gateway. */
function loadsRecorder(environment: Record<string, string>): boolean {
  const at = (path: string) => JSON.stringify(new URL(`../../${path}`, import.meta.url));
  const script = `
    import { registerHooks } from "node:module";
    let isLoaded = false;
    registerHooks({ resolve(name, context, next) {
      const resolved = next(name, context);
      isLoaded ||= /observe\\/(otlp|span-sender)/.test(resolved.url);
      return resolved;
    } });
    const { openGateway } = await import(${at("gateway/app.ts")});
    const { readGatewayConfig } = await import(${at("gateway/config.ts")});
    const { Lifecycle } = await import(${at("services/platform/process/lifecycle.ts")});
    const { silentLogger } = await import(${at("services/platform/observe/logger.ts")});
    const lifecycle = new Lifecycle(silentLogger());
    await openGateway(readGatewayConfig(process.env), silentLogger(), lifecycle);
    await lifecycle.close();
    console.log(isLoaded);
    process.exit(0);`;
  const env = { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", METRICS_PORT: "0", ...environment };
  const args = ["--input-type=module", "--eval", script];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", env, timeout: 60_000 }));
}

describe("the trace recorder", () => {
  it("is not loaded without an endpoint", () => {
    expect(loadsRecorder({ OTEL_TRACES_SAMPLER: "always_on" })).toBe(false);
  });

  it("is loaded with an endpoint", () => {
    expect(loadsRecorder({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1", DRAIN_TIMEOUT_MS: "100" })).toBe(true);
  });
});
