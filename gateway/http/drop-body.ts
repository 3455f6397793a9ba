import type { IncomingMessage } from "node:http";
import { monotonicMs } from "../../services/platform/time/clock.ts";

/** A caller that has sent nothing for this long is assumed to wait for us. */
const silenceMs = 500;
const bytesMax = 64 * 1024 * 1024;

/**
 * Receives the rest of a body, within bounds, and drops it: a caller that sends everything before it reads would
 * otherwise see its connection reset, and never the answer. Calls `done` with whether the body was complete.
 */
export function dropBody(request: IncomingMessage, durationMs: number, done: (isWhole: boolean) => void): void {
  const untilMs = monotonicMs() + durationMs;
  let bytes = 0;
  const settle = () => {
    clearTimeout(silence);
    request.off("data", receive).off("end", settle).off("close", settle);
    done(request.complete);
  };
  const receive = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax || monotonicMs() > untilMs) settle();
    else silence.refresh();
  };
  const silence = setTimeout(settle, silenceMs);
  // If the connection breaks, the `close` that follows is enough.
  request.on("error", () => {});
  request.on("data", receive).once("end", settle).once("close", settle);
  request.resume();
}
