import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import type { TracesConfig } from "../../services/platform/observe/traces-config.ts";

/** A span as a collector receives it, reduced to what tests check. */
export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  /** 2: server, 3: client. */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly isError: boolean;
  readonly startTimeUnixNano: string;
}

/** Receives traces like an OpenTelemetry collector: OTLP over HTTP. */
export interface Collector {
  readonly traces: TracesConfig;
  readonly spans: readonly ReceivedSpan[];
  /** Everything that it received, as text. */
  readonly text: () => string;
  readonly headers: readonly IncomingHttpHeaders[];
  /** The spans of a trace, in the order in which they ended. Waits until there are this many. */
  spansOf(traceId: string, count: number): Promise<ReceivedSpan[]>;
  /** The first span of a trace with this name. Waits until it has arrived. */
  spanOf(traceId: string, name: string | RegExp): Promise<ReceivedSpan>;
  close(): void;
}

/** Starts a collector that answers once `canAnswer` resolves. */
export async function startCollector(
  changes: Partial<TracesConfig> = {},
  canAnswer: Promise<void> = Promise.resolve(),
): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const texts: string[] = [];
  const receive = async (request: IncomingMessage) => {
    const text = Buffer.concat(await request.toArray()).toString();
    texts.push(text);
    headers.push(request.headers);
    spans.push(...spansIn(JSON.parse(text)));
    await canAnswer;
  };
  const { url, close } = await listen((request, response) => {
    receive(request).then(() => response.setHeader("content-type", "application/json").end("{}"));
  });
  return {
    traces: tracesTo(url, changes),
    spans,
    headers,
    text: () => texts.join("\n"),
    spansOf: async (traceId, count) => {
      const find = () => spans.filter((span) => span.traceId === traceId);
      await expect.poll(() => find().length).toBeGreaterThanOrEqual(count);
      return find();
    },
    spanOf: async (traceId, name) => {
      const isNamed = (each: string) => (typeof name === "string" ? each === name : name.test(each));
      const find = () => spans.find((span) => span.traceId === traceId && isNamed(span.name));
      await expect.poll(find).toBeDefined();
      return find() as ReceivedSpan;
    },
    close,
  };
}

/** A server on a free port of this machine. */
export async function listen(listener: RequestListener): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Records every trace, and exports soon. */
export function tracesTo(url: string, changes: Partial<TracesConfig> = {}): TracesConfig {
  return {
    url: `${url}/v1/traces`,
    headers: {},
    sampler: "parentbased_always_on",
    samplerRatio: 1,
    serviceName: undefined,
    resourceAttributes: {},
    sendEveryMs: 20,
    ...changes,
  };
}

interface KeyValue {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number; readonly doubleValue?: number };
}

/** Missing fields have their defaults, as in OTLP. */
interface OtlpSpan extends Omit<ReceivedSpan, "attributes" | "service" | "isError" | "parentSpanId" | "links"> {
  readonly attributes: readonly KeyValue[];
  readonly parentSpanId?: string;
  readonly links?: ReceivedSpan["links"];
  readonly status?: { readonly code: number };
}

interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

function spansIn({ resourceSpans }: OtlpBody): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ attributes, status, parentSpanId = "", links = [], ...span }) => ({
        ...span,
        parentSpanId,
        links,
        service: String(valuesOf(resource.attributes)["service.name"]),
        attributes: valuesOf(attributes),
        isError: status?.code === 2,
      })),
    ),
  );
}

function valuesOf(attributes: readonly KeyValue[]): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.doubleValue ?? ""]),
  );
}
