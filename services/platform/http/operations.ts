import type { RequestListener } from "node:http";
import type { Metrics } from "../observe/metrics.ts";
import type { Health } from "../process/health.ts";

type Answer = () => Promise<{ status: number; contentType: string; body: string }>;

/** The endpoints that operators use on every process, by path. */
export interface Operations {
  readonly [path: string]: Answer;
}

export function json(status: number, value: unknown): Awaited<ReturnType<Answer>> {
  return { status, contentType: "application/json", body: JSON.stringify(value) };
}

/** `/healthz`: the process runs. `/readyz`: it can do its work. */
export function probes(health: Health): Operations {
  return {
    "/healthz": async () => json(200, { status: "ok" }),
    "/readyz": async () => {
      const fault = await health.fault();
      return fault === undefined ? json(200, { status: "ready" }) : json(503, { status: "not ready", reason: fault });
    },
  };
}

export function metricsPage(metrics: Metrics): Operations {
  return {
    "/metrics": async () => ({
      status: 200,
      contentType: metrics.registry.contentType,
      body: await metrics.registry.metrics(),
    }),
  };
}

function notAnswered(): Awaited<ReturnType<Answer>> {
  return json(500, { error: "internal error" });
}

/** Answers GET and HEAD on these paths, and 404 on all others. */
export function operationsHandler(operations: Operations): RequestListener {
  return async (request, response) => {
    const path = request.url?.split("?")[0] ?? "/";
    const operation = Object.hasOwn(operations, path) ? operations[path] : undefined;
    const reading = request.method === "GET" || request.method === "HEAD";
    const answer = operation && reading ? await operation().catch(notAnswered) : json(404, { error: "not found" });
    response.writeHead(answer.status, { "content-type": answer.contentType });
    response.end(request.method === "HEAD" ? undefined : answer.body);
  };
}
