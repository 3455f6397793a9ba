import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Collector, type ReceivedSpan, startCollector } from "../support/collector.ts";
import { freshName } from "../support/fresh-name.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { callStock, stockClient } from "../support/stock-grpc.ts";

let collector: Collector;
let stack: Stack;
let traceCount = 0;

beforeAll(async () => {
  collector = await startCollector({
    headers: { "x-collector-key": "collector secret" },
    resourceAttributes: { "deployment.environment.name": "test" },
  });
  const { traces } = collector;
  stack = await startStack({ gateway: { traces }, preset: { traces }, organization: { traces } });
});

afterAll(async () => {
  await stack.close();
  collector.close();
});

/** A separate trace for each test. */
function newTrace(flags = "01"): { readonly traceId: string; readonly traceparent: string } {
  traceCount += 1;
  const traceId = traceCount.toString(16).padStart(32, "a");
  return { traceId, traceparent: `00-${traceId}-00f067aa0ba902b7-${flags}` };
}

function named(spans: readonly ReceivedSpan[], name: string | RegExp): ReceivedSpan {
  const found = spans.find((span) => (typeof name === "string" ? span.name === name : name.test(span.name)));
  if (!found) throw new Error(`No span ${name} among ${spans.map((span) => span.name).join(", ")}`);
  return found;
}

function logLinesOf(field: string, value: string): Record<string, unknown>[] {
  const lines = stack.log().trim().split("\n");
  return lines.map((line) => JSON.parse(line)).filter((line) => line[field] === value);
}

describe("with a collector", () => {
  it("records a read as one trace from the gateway through the service to the database", async () => {
    await stack.create("read");
    const { traceId, traceparent } = newTrace();
    const headers = { traceparent, "x-request-id": "read-1" };
    await stack.request("GET", "/presets/read", { key: stack.apiKey, headers });
    const spans = await collector.spansOf(traceId, 4);

    const request = named(spans, "GET /api/v1/presets/:slug");
    expect(request).toMatchObject({ service: "setpoint-gateway", kind: 2, parentSpanId: "00f067aa0ba902b7" });
    expect(request.attributes).toEqual({
      "http.request.method": "GET",
      "http.route": "/api/v1/presets/:slug",
      "http.response.status_code": 200,
      "setpoint.request_id": "read-1",
    });
    const method = "setpoint.preset.v1.PresetService/GetPreset";
    const rpcAttributes = {
      "rpc.system.name": "grpc",
      "rpc.method": method,
      "rpc.response.status_code": "OK",
      "setpoint.request_id": "read-1",
    };
    const call = spans.find(({ name, kind }) => name === method && kind === 3);
    expect(call).toMatchObject({
      service: "setpoint-gateway",
      parentSpanId: request.spanId,
      attributes: rpcAttributes,
    });
    const served = spans.find(({ name, kind }) => name === method && kind === 2);
    expect(served).toMatchObject({
      service: "setpoint-preset",
      parentSpanId: call?.spanId,
      attributes: rpcAttributes,
    });
    const statement = named(spans, "mysql SELECT presets");
    expect(statement).toMatchObject({ service: "setpoint-preset", kind: 3, parentSpanId: served?.spanId });
    expect(statement.attributes).toEqual({
      "db.system.name": "mysql",
      "db.operation.name": "SELECT",
      "db.collection.name": "presets",
      "setpoint.request_id": "read-1",
    });
    expect(spans).toHaveLength(4);
  });

  it("records a creation with its transaction and statements", async () => {
    const { traceId, traceparent } = newTrace();
    const answer = await stack.create("traced", { messages: [], temperature: 0.5 }, { headers: { traceparent } });
    expect(answer.status).toBe(200);
    const spans = await collector.spansOf(traceId, 11);
    const transaction = named(spans, "mysql TRANSACTION");
    expect(named(spans, /PresetService\/CreateVersion/).isError).toBe(false);
    const statements = spans.filter(({ parentSpanId }) => parentSpanId === transaction.spanId);
    expect(statements.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["mysql START", "mysql SELECT presets", "mysql INSERT presets", "mysql COMMIT"]),
    );
  });

  it("records the exchange of a key that is not cached", async () => {
    const { apiKey } = await stack.tenants.createOrganization();
    const { traceId, traceparent } = newTrace();
    await stack.request("GET", "/presets", { key: apiKey, headers: { traceparent } });
    const spans = await collector.spansOf(traceId, 7);
    const exchange = spans.find(
      ({ name, service }) => /AccessService/.test(name) && service === "setpoint-organization",
    );
    expect(spans.filter(({ parentSpanId }) => parentSpanId === exchange?.spanId).map(({ name }) => name)).toEqual([
      "mysql SELECT api_keys",
    ]);
  });

  it("records calls of direct gRPC and Connect callers", async () => {
    const { accessToken } = await callStock<{ accessToken: string }>(
      stockClient("setpoint.organization.v1.AccessService", stack.organization.config.grpcPort),
      "ExchangeKey",
      { key: stack.apiKey },
    );
    const overGrpc = newTrace();
    const client = stockClient("setpoint.preset.v1.PresetService", stack.preset.config.grpcPort);
    await callStock(client, "GetPreset", { slug: "read" }, { token: accessToken, headers: overGrpc });
    const overConnect = newTrace();
    await fetch(`http://127.0.0.1:${stack.preset.config.httpPort}/setpoint.preset.v1.PresetService/GetPreset`, {
      method: "POST",
      body: '{"slug":"read"}',
      headers: { ...overConnect, authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
    });
    for (const [{ traceId }, system] of [
      [overGrpc, "grpc"],
      [overConnect, "connectrpc"],
    ] as const) {
      const served = await collector.spanOf(traceId, "setpoint.preset.v1.PresetService/GetPreset");
      expect(served).toMatchObject({ kind: 2, parentSpanId: "00f067aa0ba902b7" });
      expect(served.attributes).toMatchObject({ "rpc.system.name": system, "rpc.response.status_code": "OK" });
      expect(await collector.spanOf(traceId, "mysql SELECT presets")).toMatchObject({ parentSpanId: served.spanId });
    }
  });

  it("starts a new trace if the caller sends none or an invalid one", async () => {
    for (const [index, traceparent] of [
      undefined,
      "00-not-a-trace-01",
      `00-${"0".repeat(32)}-${"1".repeat(16)}-01`,
    ].entries()) {
      const id = `own-${index}`;
      const headers = { "x-request-id": id, ...(traceparent ? { traceparent } : {}) };
      await stack.request("GET", "/presets", { key: stack.apiKey, headers });
      const ofRequest = () => collector.spans.filter(({ attributes }) => attributes["setpoint.request_id"] === id);
      await expect
        .poll(() => ofRequest().some(({ kind, service }) => kind === 2 && service === "setpoint-gateway"))
        .toBe(true);
      await expect.poll(() => new Set(ofRequest().map(({ service }) => service)).size).toBe(2);
      expect(new Set(ofRequest().map(({ traceId }) => traceId)).size).toBe(1);
    }
  });

  it("logs the trace id on every line about a request", async () => {
    const { traceId, traceparent } = newTrace();
    const id = freshName("logged");
    await stack.create("logged", undefined, { headers: { traceparent, "x-request-id": id } });
    const lines = () => logLinesOf("request_id", id);
    await expect
      .poll(() =>
        lines()
          .map(({ message, msg }) => message ?? msg)
          .sort(),
      )
      .toEqual(["request", "rpc"]);
    expect(lines().map((line) => line.trace_id)).toEqual([traceId, traceId]);
  });

  it("records a 4xx as no error and a fault as an error", async () => {
    const refused = newTrace();
    await stack.request("GET", "/presets/nowhere", { key: stack.apiKey, headers: refused });
    const route = "GET /api/v1/presets/:slug";
    expect(await collector.spanOf(refused.traceId, route)).toMatchObject({ isError: false });
    const spans = await collector.spansOf(refused.traceId, 4);
    const [call] = spans.filter(({ kind, name }) => kind === 3 && /GetPreset/.test(name));
    expect(call).toMatchObject({ isError: true, attributes: { "error.type": "NOT_FOUND" } });

    await stack.preset.stop();
    const faulty = newTrace();
    const gateway = { requestTimeoutMs: 300 };
    await stack.gateway.stop();
    await stack.gateway.start(gateway);
    try {
      const answer = await stack.request("GET", "/presets/read", { key: stack.apiKey, headers: faulty });
      expect(answer.status).toBe(503);
      const request = await collector.spanOf(faulty.traceId, route);
      expect(request).toMatchObject({ isError: true, attributes: { "error.type": "503" } });
      const lines = logLinesOf("trace_id", faulty.traceId);
      expect(lines.map(({ msg }) => msg)).toEqual(expect.arrayContaining(["request", "request failed"]));
    } finally {
      await stack.preset.start();
      await stack.gateway.stop();
      await stack.gateway.start({ requestTimeoutMs: 10_000 });
    }
  });

  it("records a batched call in one request's trace with links to the others", async () => {
    await Promise.all(["crowd-0", "crowd-1", "crowd-2"].map((slug) => stack.create(slug)));
    const traces = Array.from({ length: 24 }, () => newTrace());
    await Promise.all(
      traces.map(({ traceparent }, index) =>
        stack.request("GET", `/presets/crowd-${index % 3}`, { key: stack.apiKey, headers: { traceparent } }),
      ),
    );
    const ids = new Set(traces.map(({ traceId }) => traceId));
    const calls = () =>
      collector.spans.filter(({ kind, name, traceId }) => kind === 3 && /PresetService/.test(name) && ids.has(traceId));
    // Each is in the trace of a call, or linked to it.
    await expect
      .poll(
        () => new Set(calls().flatMap(({ traceId, links }) => [traceId, ...links.map((link) => link.traceId)])).size,
      )
      .toBe(traces.length);
    expect(calls().length).toBeLessThan(traces.length);
  });

  it("records no probes", async () => {
    await fetch(`${stack.baseUrl}/healthz`);
    await fetch(`${stack.baseUrl}/readyz`);
    const { traceId, traceparent } = newTrace();
    await stack.request("GET", "/presets", { key: stack.apiKey, headers: { traceparent } });
    await collector.spansOf(traceId, 4);
    expect(collector.spans.filter(({ name }) => /healthz|readyz|Health/.test(name))).toEqual([]);
  });

  it("sends no key, token, prompt or path of a caller", async () => {
    const { traceId, traceparent } = newTrace();
    const body = { messages: [{ role: "system", content: "a very secret prompt" }], temperature: 0.123456 };
    const headers = { traceparent, tracestate: "vendor=secret-state" };
    await stack.create("secretive", body, { headers });
    await stack.request("GET", `/nowhere/${stack.apiKey}?key=${stack.apiKey}`, { key: stack.apiKey, headers });
    await collector.spansOf(traceId, 9);
    const text = collector.text();
    expect(text).not.toContain("very secret prompt");
    expect(text).not.toContain("0.123456");
    expect(text).not.toContain("secret-state");
    expect(text).not.toContain("secretive");
    expect(text).not.toContain(stack.apiKey);
    expect(text).not.toContain(stack.apiKey.slice(-20));
    expect(text).not.toContain("eyJ");
    expect(text).not.toContain("collector secret");
  });

  it("sends the resource attributes and the configured headers", () => {
    expect(collector.text()).toContain("deployment.environment.name");
    expect(collector.headers.every((headers) => headers["x-collector-key"] === "collector secret")).toBe(true);
  });

  it("does not export a trace that the caller marks as not sampled", async () => {
    const unrecorded = newTrace("00");
    await stack.request("GET", "/presets", { key: stack.apiKey, headers: unrecorded });
    const recorded = newTrace();
    await stack.request("GET", "/presets", { key: stack.apiKey, headers: recorded });
    await collector.spansOf(recorded.traceId, 4);
    expect(collector.spans.filter(({ traceId }) => traceId === unrecorded.traceId)).toEqual([]);
    expect(logLinesOf("trace_id", unrecorded.traceId)).toHaveLength(2);
  });
});

describe("a trace that is not sampled", () => {
  it("still has its own id in the log, even for batched requests", async () => {
    const unrecorded = { ...collector.traces, sampler: "always_off" } as const;
    await stack.gateway.stop();
    await stack.gateway.start({ traces: unrecorded });
    try {
      await stack.create("unrecorded");
      const ids = Array.from({ length: 24 }, (_, index) => `unrecorded-${index}`);
      await Promise.all(
        ids.map((id) =>
          stack.request("GET", "/presets/unrecorded", { key: stack.apiKey, headers: { "x-request-id": id } }),
        ),
      );
      const lines = ids.flatMap((id) => logLinesOf("request_id", id)).filter(({ msg }) => msg === "request");
      expect(lines).toHaveLength(ids.length);
      const traceIds = lines.map((line) => line.trace_id);
      expect(traceIds.every((traceId) => /^[\da-f]{32}$/.test(String(traceId)))).toBe(true);
      expect(new Set(traceIds).size).toBe(ids.length);
      // The forwarded id is what the service logs, and it records no more than the gateway does.
      const served = logLinesOf("msg", "rpc").map((line) => line.trace_id);
      expect(served.some((traceId) => traceIds.includes(traceId))).toBe(true);
      expect(collector.spans.filter(({ traceId }) => traceIds.includes(traceId))).toEqual([]);
    } finally {
      await stack.gateway.stop();
      await stack.gateway.start({ traces: collector.traces });
    }
  });
});
