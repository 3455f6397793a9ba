import type { IncomingHttpHeaders } from "node:http";
import { timeoutMaxMs, timeoutMsFrom } from "./grpc-timeout.ts";

/**
 * Shortens what a caller says about how long it waits. Connect sets a timer for that, and one that is set for
 * longer than timers can count fires at once.
 */
export function shortenTimeout(headers: IncomingHttpHeaders): void {
  const { "connect-timeout-ms": connectMs, "grpc-timeout": grpcTimeout } = headers;
  // One of fewer digits is shorter, and one of more is refused.
  if (/^\d{9,10}$/.test(String(connectMs)))
    headers["connect-timeout-ms"] = String(Math.min(Number(connectMs), timeoutMaxMs));
  if (timeoutMsFrom(String(grpcTimeout)) === timeoutMaxMs) headers["grpc-timeout"] = `${timeoutMaxMs}m`;
}
