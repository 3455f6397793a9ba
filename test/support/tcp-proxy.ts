import type { AddressInfo } from "node:net";
import { connect, createServer, type NetConnectOpts, type Socket } from "node:net";

/** Stands between a process and what it calls, and can fail like a network. */
export interface TcpProxy {
  readonly port: number;
  /** Ends all connections and refuses new ones. */
  cut(): void;
  /** Accepts everything and answers nothing, like a machine that has vanished. */
  hang(): void;
  /** Passes requests on, but no answers. */
  mute(): void;
  restore(): void;
  close(): void;
}

export async function openTcpProxy(target: NetConnectOpts): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const targets = new Set<Socket>();
  let state: "open" | "cut" | "hanging" | "mute" = "open";
  const server = createServer((near) => {
    if (state === "cut") {
      near.destroy();
      return;
    }
    const far = connect(target);
    targets.add(far);
    far.on("close", () => targets.delete(far));
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
      from.on("data", (chunk) => to.write(chunk));
      if (state === "hanging" || (state === "mute" && from === far)) from.pause();
    }
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const cut = () => {
    state = "cut";
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    hang: () => {
      state = "hanging";
      for (const socket of sockets) socket.pause();
    },
    mute: () => {
      state = "mute";
      for (const target of targets) target.pause();
    },
    restore: () => {
      state = "open";
      for (const socket of sockets) socket.resume();
    },
    close: () => {
      cut();
      server.close();
    },
  };
}

/** A proxy to a database server, whether that listens on a port or on a socket file. */
export function openDatabaseProxy(databaseUrl: string): Promise<TcpProxy> {
  const { hostname, port, searchParams } = new URL(databaseUrl);
  const socketPath = searchParams.get("socketPath");
  return openTcpProxy(socketPath ? { path: socketPath } : { host: hostname, port: Number(port || 3306) });
}

/** The same database, through the proxy. */
export function urlThrough(proxy: TcpProxy, databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.delete("socketPath");
  url.hostname = "127.0.0.1";
  url.port = String(proxy.port);
  return url.toString();
}
