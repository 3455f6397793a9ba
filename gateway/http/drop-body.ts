import type { IncomingMessage } from "node:http";
import { monotonicMs } from "../../services/platform/process/clock.ts";

/** A caller that has sent nothing for this long is taken to wait for us. */
const silenceMs = 500;
const bytesMax = 64 * 1024 * 1024;

/**
 * Receives what is left of a body, within bounds, and drops it: a caller who sends everything before they read would
 * otherwise see their connection reset, and never the answer. Calls `done` with whether the body came to its end.
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
