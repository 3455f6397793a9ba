import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { connectLean } from "./lean-socket.ts";

let server: Server | undefined;

afterEach(() => {
  server?.close();
});

/** A connection to a server that does this with its side. */
async function connectTo(onConnection: (socket: Socket) => void): Promise<Socket> {
  server = createServer(onConnection).listen(0, "127.0.0.1");
  await once(server, "listening");
  return connectToSame();
}

function connectToSame(): Socket {
  const address = server?.address() as AddressInfo | undefined;
  return connectLean({ host: "127.0.0.1", port: address?.port ?? 0 });
}

function collect(socket: Socket): Buffer[] {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  return chunks;
}

it("receives what is sent, while another socket reads into the same buffer", async () => {
  const sent = Buffer.from(Array.from({ length: 1_000_000 }, (_, index) => index % 251));
  const first = await connectTo((peer) => peer.end(sent));
  const second = connectToSame();
  const received = [collect(first), collect(second)];
  await Promise.all([once(first, "end"), once(second, "end")]);
  for (const chunks of received) expect(Buffer.concat(chunks).equals(sent)).toBe(true);
});

it("reads nothing while it is paused", async () => {
  const socket = await connectTo((peer) => peer.write(Buffer.alloc(20_000_000)));
  const chunks = collect(socket);
  await once(socket, "data");
  socket.pause();
  const before = chunks.length;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(chunks.length).toBeLessThanOrEqual(before + 1);
  socket.resume();
  await expect.poll(() => Buffer.concat(chunks).length).toBe(20_000_000);
  socket.destroy();
});

it("reports an end without data, and a reset", async () => {
  const ended = await connectTo((peer) => peer.end());
  collect(ended);
  await once(ended, "end");
  server?.close();
  const reset = await connectTo((peer) => peer.resetAndDestroy());
  collect(reset);
  const [error] = await once(reset, "error");
  expect(error).toMatchObject({ code: "ECONNRESET" });
});
