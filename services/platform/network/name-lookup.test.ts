import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { lookUpForSocket, NameLookup } from "./name-lookup.ts";

interface Question {
  readonly host: string;
  readonly answer: (address: string) => void;
  readonly fail: (code: string) => void;
}

let asked: Question[];
let names: NameLookup;

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  names = new NameLookup((host) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly LookupAddress[]>();
    const answer = (address: string) => resolve([{ address, family: 4 }]);
    asked.push({ host, answer, fail: (code) => reject(Object.assign(new Error(code), { code })) });
    return promise;
  });
});

afterEach(() => void vi.useRealTimers());

/** The address that a lookup finds, or the code of its error. */
async function outcome(lookup: Promise<readonly LookupAddress[]>): Promise<string | undefined> {
  return lookup.then(
    (addresses) => addresses[0]?.address,
    ({ code }) => code,
  );
}

async function learn(host: string, address: string): Promise<void> {
  const lookup = names.lookUp(host);
  asked.splice(0)[0]?.answer(address);
  await lookup;
}

it("looks a name up only once at a time, and others at the same time", async () => {
  const lookups = ["a", "a", "b", "a"].map((host) => outcome(names.lookUp(host)));
  expect(asked.map(({ host }) => host)).toEqual(["a", "b"]);
  asked[0]?.answer("10.0.0.1");
  asked[1]?.fail("ENOTFOUND");
  expect(await Promise.all(lookups)).toEqual(["10.0.0.1", "10.0.0.1", "ENOTFOUND", "10.0.0.1"]);
});

it("looks it up again for whoever comes after the answer, even if that was an error", async () => {
  await learn("a", "10.0.0.1");
  const second = outcome(names.lookUp("a"));
  asked.splice(0)[0]?.answer("10.0.0.2");
  expect(await second).toBe("10.0.0.2");
  for (const _ of [1, 2]) {
    const failing = outcome(names.lookUp("b"));
    asked.splice(0)[0]?.fail("ENOTFOUND");
    expect(await failing).toBe("ENOTFOUND");
  }
});

it("returns the known addresses if there is no answer in time, at once to those who come later", async () => {
  await learn("a", "10.0.0.1");
  let found: string | undefined;
  void outcome(names.lookUp("a")).then((address) => {
    found = address;
  });
  await vi.advanceTimersByTimeAsync(900);
  expect(found).toBeUndefined();
  await vi.advanceTimersByTimeAsync(100);
  expect(found).toBe("10.0.0.1");
  expect(await outcome(names.lookUp("a"))).toBe("10.0.0.1");
  expect(asked).toHaveLength(1);

  asked.splice(0)[0]?.answer("10.0.0.2");
  await vi.advanceTimersByTimeAsync(0);
  const next = outcome(names.lookUp("a"));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await next).toBe("10.0.0.2");
});

it.each([
  ["while no name server answers, returns those", "EAI_AGAIN", "10.0.0.1"],
  ["forgets them once there is no such name", "ENOTFOUND", "ENOTFOUND"],
])("%s", async (_title, code, expected) => {
  await learn("a", "10.0.0.1");
  const lookup = outcome(names.lookUp("a"));
  asked.splice(0)[0]?.fail(code);
  expect(await lookup).toBe(expected);
  const next = outcome(names.lookUp("a"));
  asked.splice(0)[0]?.fail("EAI_AGAIN");
  expect(await next).toBe(code === "ENOTFOUND" ? "EAI_AGAIN" : "10.0.0.1");
});

it.each([true, false])("lets a socket connect to a name, by all of its addresses or one (%s)", async (all) => {
  vi.useRealTimers();
  const server = createServer((socket) => socket.end()).listen(0, "localhost");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const socket = connect({ host: "localhost", port, lookup: lookUpForSocket, autoSelectFamily: all });
  await once(socket, "connect");
  socket.destroy();
  server.close();
  const unknown = connect({ host: "no-such-name.invalid", port, lookup: lookUpForSocket, autoSelectFamily: all });
  const [error] = await once(unknown, "error");
  expect(error.code).toMatch(/ENOTFOUND|EAI_AGAIN/);
});
