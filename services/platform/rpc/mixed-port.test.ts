import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMixedPort } from "./mixed-port.ts";

const silenceMs = 200;

let port: Server;
let taken: [kind: "plain" | "secure", socket: Socket][];
let clients: Socket[];

beforeEach(async () => {
  taken = [];
  clients = [];
  const [plain, secure] = (["plain", "secure"] as const).map((kind) =>
    createServer((socket) => taken.push([kind, socket.on("error", () => {}).resume()])),
  );
  port = createMixedPort(plain as Server, secure as Server, silenceMs);
  await once(port.listen(0, "127.0.0.1"), "listening");
});

afterEach(() => {
  for (const client of clients) client.destroy();
  port.close();
});

function connected(): Socket {
  const client = connect((port.address() as AddressInfo).port, "127.0.0.1")
    .on("error", () => {})
    .resume();
  clients.push(client);
  return client;
}

describe("a connection to a port for clear text and TLS", () => {
  it.each([
    ["secure", 0x16],
    ["plain", 0x50],
  ] as const)("is %s by its first byte, and may be silent after it", async (kind, first) => {
    const client = connected();
    client.write(Buffer.from([first]));
    await expect.poll(() => taken.map(([each]) => each)).toEqual([kind]);
    // Those that came later, and sent nothing, are closed first.
    const silent = connected();
    await once(silent, "close");
    await once(connected(), "close");
    expect(client.destroyed).toBe(false);
  });

  it("is closed if it sends nothing", async () => {
    await once(connected(), "close");
    expect(taken).toEqual([]);
  });

  it("may be reset before it has sent anything", async () => {
    const accepted = once(port, "connection");
    const client = connected();
    const [socket] = await accepted;
    // Not `once` of Node's events, which would notice the error, too.
    const closed = new Promise((resolve) => socket.once("close", resolve));
    client.resetAndDestroy();
    await closed;
    expect(taken).toEqual([]);
  });
});
