import type { Http2Connection } from "../http2/connection.ts";

const pingIntervalMs = 30_000;
const pingTimeoutMs = 10_000;

/** Ends a connection whose peer has vanished without a word. Returns what stops it; to be called when it closes. */
export function keepAlive(connection: Http2Connection): () => void {
  let timeout: NodeJS.Timeout | undefined;
  const ping = () => {
    // It takes a moment from its end until it is closed.
    if (connection.destroyed) return;
    timeout = setTimeout(() => connection.destroy(), pingTimeoutMs).unref();
    connection.ping(() => clearTimeout(timeout));
  };
  const interval = setInterval(ping, pingIntervalMs).unref();
  return () => {
    clearInterval(interval);
    clearTimeout(timeout);
  };
}
