import type { Http2Connection } from "../http2/connection.ts";
import { afterArrivals } from "../time/next-turn.ts";

// After a network outage, TCP retransmits only after a wait about as long as the outage. A new connection is
// established within seconds.
const pingIntervalMs = 10_000;
const pingTimeoutMs = 5_000;

/**
 * Ends a connection whose peer has vanished silently. Returns a function that stops it, to be called when it closes.
 * `mayExpectAnswer` tells whether a peer that has not vanished would answer now; it always would by default.
 */
export function keepAlive(connection: Http2Connection, mayExpectAnswer = () => true): () => void {
  let timeout: NodeJS.Timeout | undefined;
  const ping = () => {
    // There is a moment between its end and its close.
    if (connection.destroyed || !mayExpectAnswer()) return;
    let isAnswered = false;
    connection.ping(() => {
      isAnswered = true;
      clearTimeout(timeout);
    });
    const destroyUnlessAnswered = () => isAnswered || !mayExpectAnswer() || connection.destroy();
    timeout = setTimeout(() => afterArrivals(destroyUnlessAnswered), pingTimeoutMs).unref();
  };
  // The peer may have given us up meanwhile, after its last answers: sending something then would end the connection
  // before those are read.
  const interval = setInterval(() => afterArrivals(ping), pingIntervalMs).unref();
  return () => {
    clearInterval(interval);
    clearTimeout(timeout);
  };
}
