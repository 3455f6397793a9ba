import { once } from "node:events";
import { type AddressInfo, createServer, Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { Opening } from "./opening.ts";

const server = createServer();
let port = 0;
let sockets: Map<string, Socket>;

beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  port = (server.address() as AddressInfo).port;
});

afterAll(() => void server.close());

beforeEach(() => {
  sockets = new Map();
});

/** Addresses, by what becomes of a connection to them. */
const good = "10.0.0.1";
const refusing = "10.0.1.1";
const dead = "10.0.2.1";
const dead2 = "10.0.2.2";
const slow = "10.0.3.1";
const deadV6 = "fd00::2";
const refusingV6 = "fd00::1";

/** Longer than an address is tried alone. */
const slowMs = 700;

function begin(address: string): Socket {
  const socket = new Socket();
  sockets.set(address, socket);
  const kind = address.includes(":") ? (address === refusingV6 ? refusing : dead) : address;
  if (kind === good) socket.connect(port, "127.0.0.1");
  if (kind === refusing) setImmediate(() => socket.destroy(Object.assign(new Error("no"), { code: "ECONNREFUSED" })));
  if (kind === slow) setTimeout(() => socket.destroyed || socket.connect(port, "127.0.0.1"), slowMs);
  return socket;
}

interface Outcome {
  readonly opened?: string | undefined;
  readonly code?: string | undefined;
}

function open(
  addresses: readonly string[],
  timeoutMs = 5_000,
  openEvent: "connect" | "secureConnect" = "connect",
): { opening: Opening; outcome: Promise<Outcome> } {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  const lookUp = async () => found;
  const opening = new Opening(
    { host: "upstream.test", timeoutMs, connect: begin, openEvent, lookUp },
    {
      onOpen: (socket) => resolve({ opened: [...sockets].find(([, each]) => each === socket)?.[0] }),
      onFailed: (error) => resolve({ code: (error as NodeJS.ErrnoException).code }),
    },
  );
  return { opening, outcome: promise };
}

it.each([
  ["the only address", [good], good],
  ["the second, if the first refuses", [refusing, good], good],
  ["the second, if the first is dead", [dead, good], good],
  ["the last, if all others are dead", [dead, dead2, deadV6, good], good],
  ["a slow one before one that refuses", [slow, refusingV6], slow],
  ["a slow one before one that is dead", [slow, deadV6], slow],
  ["a fast one before a slow one", [slow, good], good],
])("connects to %s", async (_name, addresses, expected) => {
  expect(await open(addresses).outcome).toEqual({ opened: expected });
  // The others are given up.
  for (const [address, socket] of sockets) expect([address, socket.destroyed]).toEqual([address, address !== expected]);
  sockets.get(expected)?.destroy();
});

it("tries the addresses of both families in turns", async () => {
  const { outcome } = open([deadV6, refusingV6, dead, dead2], 3_000);
  expect(await outcome).toEqual({ code: "ETIMEDOUT" });
  expect([...sockets.keys()]).toEqual([deadV6, dead, refusingV6, dead2]);
});

it("tries all of many addresses in its time", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const addresses = Array.from({ length: 40 }, (_, n) => `10.0.2.${n}`);
    const { outcome } = open(addresses, 5_000);
    await vi.advanceTimersByTimeAsync(4_900);
    expect([...sockets.keys()]).toEqual(addresses);
    await vi.advanceTimersByTimeAsync(100);
    expect(await outcome).toEqual({ code: "ETIMEDOUT" });
  } finally {
    vi.useRealTimers();
  }
});

it("tries no other address while one that has accepted the connection sets up TLS", async () => {
  const { opening, outcome } = open([good, dead], 5_000, "secureConnect");
  await expect.poll(() => sockets.get(good)?.readyState).toBe("open");
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect([...sockets.keys()]).toEqual([good]);
  sockets.get(good)?.emit("secureConnect");
  expect(await outcome).toEqual({ opened: good });
  opening.cancel();
  sockets.get(good)?.destroy();
});

it("fails with the first error if every address refuses", async () => {
  expect(await open([refusing, refusingV6]).outcome).toEqual({ code: "ECONNREFUSED" });
});

it.each([["127.0.0.1"], ["upstream.test"]])("fails if it cannot even begin to connect to %s", async (host) => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const connect = () => {
    throw new Error("unusable");
  };
  const lookUp = async () => [{ address: good, family: 4 }];
  new Opening(
    { host, timeoutMs: 5_000, connect, openEvent: "connect", lookUp },
    { onOpen: () => resolve("open"), onFailed: ({ message }) => resolve(message) },
  );
  expect(await promise).toBe("unusable");
});

it("fails when its time is over, and leaves nothing behind", async () => {
  expect(await open([dead, dead2], 300).outcome).toEqual({ code: "ETIMEDOUT" });
  expect([...sockets.values()].map(({ destroyed }) => destroyed)).toEqual([true, true]);
});

it("can be canceled, at any time", async () => {
  const early = open([good]);
  early.opening.cancel();
  expect(await early.outcome).toEqual({ code: undefined });
  expect(sockets.size).toBe(0);

  const late = open([dead]);
  await expect.poll(() => sockets.size).toBe(1);
  late.opening.cancel();
  expect(await late.outcome).toEqual({ code: undefined });
  expect(sockets.get(dead)?.destroyed).toBe(true);
});
