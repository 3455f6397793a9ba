import { createServer, type Server as NetServer, type Socket } from "node:net";
import { type Server, ServerCredentials } from "@grpc/grpc-js";

/** The first byte of a TLS connection: a handshake record. HTTP/2 in clear text begins with the letter P. */
const tlsHandshake = 0x16;
/** How long a connection may say nothing at all. */
const silenceMs = 20_000;

export interface MixedPort {
  readonly listener: NetServer;
  /** Takes no more connections. The server closes those that it was given. */
  close(): void;
}

/**
 * A port that takes both, clear text and TLS, while a cluster changes from one to the other. The server's own bounds hold
 * for the connections of both. The caller binds and closes it.
 */
export function createMixedPort(server: Server, secure: ServerCredentials): MixedPort {
  const plainConnections = server.createConnectionInjector(ServerCredentials.createInsecure());
  const secureConnections = server.createConnectionInjector(secure);
  const silent = new Set<Socket>();
  const listener = createServer((socket) => {
    silent.add(socket);
    const onEnd = () => socket.destroy();
    socket.setTimeout(silenceMs, onEnd);
    socket.on("error", onEnd);
    socket.once("close", () => silent.delete(socket));
    socket.once("data", (first: Buffer) => {
      silent.delete(socket);
      socket.setTimeout(0, onEnd);
      socket.off("error", onEnd);
      socket.pause();
      socket.unshift(first);
      const connections = first[0] === tlsHandshake ? secureConnections : plainConnections;
      connections.injectConnection(socket);
    });
  });
  const close = () => {
    listener.close();
    for (const socket of silent) socket.destroy();
  };
  return { listener, close };
}
