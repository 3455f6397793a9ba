import { createServer, type Server, type Socket } from "node:net";

/** The first byte of a TLS connection: a handshake record. HTTP/2 in clear text begins with the letter P. */
const tlsHandshake = 0x16;
/** How long a connection may send nothing at all. */
const silenceMaxMs = 20_000;

/** A port that accepts both clear text and TLS, while a cluster changes from one to the other. */
export function createMixedPort(plain: Server, secure: Server, silenceMs = silenceMaxMs): Server {
  return createServer((socket: Socket) => {
    const onEnd = () => socket.destroy();
    socket.setTimeout(silenceMs, onEnd);
    socket.on("error", onEnd);
    socket.once("data", (first: Buffer) => {
      socket.setTimeout(0, onEnd);
      socket.off("error", onEnd);
      socket.pause();
      socket.unshift(first);
      (first[0] === tlsHandshake ? secure : plain).emit("connection", socket);
    });
  });
}
