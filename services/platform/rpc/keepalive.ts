import type { Http2Session } from "node:http2";

const pingIntervalMs = 30_000;
const pingTimeoutMs = 10_000;

/** Ends a connection whose peer has vanished without a word. Returns what stops it; to be called when it closes. */
export function keepAlive(session: Http2Session): () => void {
  let patience: NodeJS.Timeout | undefined;
  const ping = () => {
    // It takes a moment from its end until it is closed.
    if (session.destroyed) return;
    patience = setTimeout(() => session.destroy(), pingTimeoutMs).unref();
    session.ping(() => clearTimeout(patience));
  };
  const interval = setInterval(ping, pingIntervalMs).unref();
  return () => {
    clearInterval(interval);
    clearTimeout(patience);
  };
}
