import type { Http2Connection } from "../http2/connection.ts";
import { afterArrivals } from "../process/next-turn.ts";

// After an outage of the network, TCP sends again what was lost only after a wait that is about as long as the outage was.
// A new connection is there within seconds.
const pingIntervalMs = 10_000;
const pingTimeoutMs = 5_000;

/** Ends a connection whose peer has vanished without a word. Returns what stops it; to be called when it closes. */
export function keepAlive(connection: Http2Connection): () => void {
  let timeout: NodeJS.Timeout | undefined;
  const ping = () => {
    // It takes a moment from its end until it is closed.
    if (connection.destroyed) return;
    let isAnswered = false;
    connection.ping(() => {
      isAnswered = true;
      clearTimeout(timeout);
    });
    const destroyUnlessAnswered = () => isAnswered || connection.destroy();
    timeout = setTimeout(() => afterArrivals(destroyUnlessAnswered), pingTimeoutMs).unref();
  };
  // The peer may have given us up meanwhile, behind its last answers: to send something then would end the connection unread.
  const interval = setInterval(() => afterArrivals(ping), pingIntervalMs).unref();
  return () => {
    clearInterval(interval);
    clearTimeout(timeout);
  };
}
