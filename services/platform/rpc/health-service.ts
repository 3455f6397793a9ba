import { setTimeout as sleep } from "node:timers/promises";
import {
  Health as HealthDescriptor,
  HealthCheckResponse_ServingStatus as Status,
} from "../../../proto/gen/grpc/health/v1/health_pb.ts";
import { DomainError } from "../domain/domain-error.ts";
import type { Health } from "../process/health.ts";
import { type ServedService, serveOpenService } from "./service.ts";

/** The result of a check is cached for a second, so this costs next to nothing, and draining is noticed soon. */
const watchIntervalMs = 250;

/** Many more than there are gateways. Anyone may watch, without a token and indefinitely. */
export const watchersMax = 1_000;

/** `grpc.health.v1` for the process as a whole (`""`) and for each service by its full name. */
export function serveHealth(
  health: Health,
  serviceNames: readonly string[],
  middleware: Parameters<typeof serveOpenService>[2],
): ServedService {
  const known = new Set(["", HealthDescriptor.typeName, ...serviceNames]);
  let watchers = 0;
  const statusOf = async () => ((await health.fault()) === undefined ? Status.SERVING : Status.NOT_SERVING);
  return serveOpenService(
    HealthDescriptor,
    {
      async check({ service }) {
        if (!known.has(service)) {
          throw new DomainError("not_found", { reason: "SERVICE_UNKNOWN", message: "No such service here." });
        }
        return { status: await statusOf() };
      },
      async *watch({ service }, { signal }) {
        if (watchers >= watchersMax) {
          throw new DomainError("resource_exhausted", {
            reason: "TOO_MANY_WATCHERS",
            message: "Too many health watches are open.",
          });
        }
        watchers += 1;
        try {
          let sent: Status | undefined;
          while (!signal?.aborted) {
            const status = known.has(service) ? await statusOf() : Status.SERVICE_UNKNOWN;
            if (status !== sent) yield { status };
            sent = status;
            // A watcher must not delay the drain.
            if (health.isDraining()) return;
            await sleep(watchIntervalMs, undefined, signal ? { signal } : {}).catch(() => {});
          }
        } finally {
          watchers -= 1;
        }
      },
    },
    middleware,
  );
}
