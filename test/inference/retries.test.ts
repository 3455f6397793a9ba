import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  answerWith,
  HostileUpstream,
  headOf,
  type Script,
  silence,
  streamBroken,
  streamHead,
} from "../support/hostile-upstream.ts";
import { entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";

let upstream: HostileUpstream;
let stack: InferenceStack;

beforeAll(async () => {
  upstream = await HostileUpstream.start();
  const at = (name: string, more: object = {}) => entryOf(upstream, { name, models: [name], ...more });
  stack = await startInferenceStack({
    upstreams: [
      at("safe"),
      at("any", { retry: "any" }),
      at("full", { concurrency_max: 1 }),
      at("gone", { base_url: "http://127.0.0.1:9/v1" }),
      at("nowhere", { base_url: "http://nowhere.invalid/v1" }),
    ],
  });
});

afterAll(async () => {
  await stack.close();
  await upstream.stop();
});

beforeEach(() => upstream.reset());

const closes: Script = (_request, socket) => {
  socket.destroy();
};
const resets: Script = (_request, socket) => {
  socket.resetAndDestroy();
};

const retries = (name: string) => stack.metric("setpoint_inference_retries_total", `upstream="${name}"`);

/** Opens and uses a connection, so that it is idle. */
async function warmUp(model: string): Promise<void> {
  expect((await stack.send("chat/completions", { model })).status).toBe(200);
  upstream.received.length = 0;
}

describe("a request is retried once", () => {
  it.each([
    ["closed", closes],
    ["reset", resets],
  ])("if a reused connection is %s without an answer", async (_name, script) => {
    await warmUp("safe");
    const before = await retries("safe");
    upstream.next.push(script);
    const answer = await stack.send("chat/completions", { model: "safe", text: "same" });
    expect(answer.status).toBe(200);
    expect(upstream.received.map(({ earlierOnConnection }) => earlierOnConnection > 0)).toEqual([true, false]);
    expect(upstream.received.map((request) => request.body())).toEqual(Array(2).fill('{"model":"safe","text":"same"}'));
    expect(await retries("safe")).toBe(before + 1);
  });

  it("over a new connection, because other idle ones may be closed too", async () => {
    const held: (() => void)[] = [];
    upstream.script = (request, socket) => {
      // Only together, so that each has its own connection.
      held.push(() => answerWith(200, "{}")(request, socket));
      if (held.length === 3) for (const answer of held) void answer();
    };
    await Promise.all([1, 2, 3].map(() => warmUp("safe")));
    upstream.script = (request, socket) => {
      if (request.earlierOnConnection > 0) socket.resetAndDestroy();
      else void answerWith(200, "{}")(request, socket);
    };
    expect((await stack.send("chat/completions", { model: "safe" })).status).toBe(200);
    expect(upstream.received.map(({ earlierOnConnection }) => earlierOnConnection > 0)).toEqual([true, false]);
  });

  it.each([
    [429, "0"],
    [503, "1"],
    [529, "1.5"],
    [429, new Date(Date.now() - 10_000).toUTCString()],
  ])("if it is rejected with %i and Retry-After: %s", async (status, after) => {
    upstream.next.push(answerWith(status, "{}", { "retry-after": after }));
    const sentAt = performance.now();
    const answer = await stack.send("chat/completions", { model: "safe" });
    expect(answer.status).toBe(200);
    expect(upstream.received).toHaveLength(2);
    expect(performance.now() - sentAt).toBeGreaterThanOrEqual((Number(after) || 0) * 1000 - 50);
    // The rejection was read to its end.
    expect(upstream.last.earlierOnConnection).toBeGreaterThan(0);
  });

  it("if the upstream is unreachable, and then returns 502", async () => {
    const before = await retries("gone");
    const answer = await stack.send("chat/completions", { model: "gone" });
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({
      error: { code: 502, message: "The upstream gone cannot be reached (ECONNREFUSED). Try again in a moment." },
    });
    expect(await retries("gone")).toBe(before + 1);
    const lines = stack.log().split("\n");
    const told = lines.filter((line) => line.includes(answer.headers.get("x-request-id") as string));
    expect(told.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ upstream: "gone", status: 502, reason: "cannot be reached (ECONNREFUSED)" }),
    );
    expect((await stack.send("chat/completions", { model: "nowhere" })).status).toBe(502);
  });

  it.each([
    ["breaks", closes],
    ["answers 500", answerWith(500, "{}")],
    ["answers 502", answerWith(502, "{}")],
    ["answers 504", answerWith(504, "{}")],
  ])("if the upstream %s and its operator allows any retry", async (_name, script) => {
    upstream.next.push(script);
    expect((await stack.send("chat/completions", { model: "any" })).status).toBe(200);
    expect(upstream.received).toHaveLength(2);
    upstream.next.push(script, script);
    expect((await stack.send("chat/completions", { model: "any" })).status).toBeGreaterThanOrEqual(500);
    expect(upstream.received).toHaveLength(4);
  });
});

describe("a request is not retried", () => {
  it("if a new connection breaks, because it may have been billed", async () => {
    await expectNewConnection();
    upstream.script = closes;
    const answer = await stack.send("chat/completions", { model: "safe" });
    expect([answer.status, upstream.received.length]).toEqual([502, 1]);
  });

  it("if a reused connection breaks after a while, because it may have been billed", async () => {
    await warmUp("safe");
    upstream.script = async (_request, socket) => {
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      socket.destroy();
    };
    const answer = await stack.send("chat/completions", { model: "safe" });
    expect([answer.status, upstream.received.length]).toEqual([502, 1]);
  });

  it("if a reused connection breaks after part of the head", async () => {
    await warmUp("safe");
    upstream.script = (_request, socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-", () => socket.destroy());
    };
    const answer = await stack.send("chat/completions", { model: "safe" });
    expect([answer.status, upstream.received.length]).toEqual([502, 1]);
  });

  it.each([
    ["500", answerWith(500, '{"e":500}'), 500],
    ["429 without Retry-After", answerWith(429, '{"e":429}'), 429],
    ["429 with a long Retry-After", answerWith(429, '{"e":429}', { "retry-after": "3" }), 429],
    ["429 with an invalid Retry-After", answerWith(429, '{"e":429}', { "retry-after": "-1" }), 429],
    ["400 with a short Retry-After", answerWith(400, '{"e":400}', { "retry-after": "1" }), 400],
  ])("if the answer is %s, which is passed on", async (_name, script, status) => {
    upstream.script = script;
    const answer = await stack.send("chat/completions", { model: "safe" });
    expect([answer.status, await answer.text(), upstream.received.length]).toEqual([status, `{"e":${status}}`, 1]);
  });

  it("a second time", async () => {
    upstream.script = answerWith(503, '{"e":503}', { "retry-after": "0" });
    const answer = await stack.send("chat/completions", { model: "safe" });
    expect([answer.status, await answer.text(), upstream.received.length]).toEqual([503, '{"e":503}', 2]);
    expect(answer.headers.get("retry-after")).toBe("0");
  });

  it("once its answer has started", async () => {
    upstream.script = streamBroken("data: 1\n\n");
    await (await stack.send("chat/completions", { model: "any", stream: true })).text();
    expect(upstream.received).toHaveLength(1);
  });

  it.each([
    ["not HTTP", "hello\r\n\r\n", "did not answer in HTTP (another protocol)"],
    ["another protocol", headOf(101, { connection: "upgrade", upgrade: "x" }), "broke off its answer"],
    [
      "an endless head",
      `HTTP/1.1 200 OK\r\nx: ${"x".repeat(100_000)}`,
      "did not answer in HTTP (a head without an end)",
    ],
    [
      "an endless interim answer",
      `HTTP/1.1 100 OK\r\nx: ${"x".repeat(100_000)}`,
      "did not answer in HTTP (a head without an end)",
    ],
    [
      "a head followed by a chunk without a size",
      `${streamHead}x\r\n`,
      "did not answer in HTTP (a chunk without a size or an end)",
    ],
  ])("if the answer is %s, which returns 502", async (_name, bytes, reason) => {
    await expectNewConnection();
    upstream.script = (_request, socket) => {
      socket.write(bytes);
    };
    const answer = await stack.send("chat/completions", { model: "safe" });
    expect([answer.status, upstream.received.length]).toEqual([502, 1]);
    expect(await answer.text()).toContain(`The upstream safe ${reason}.`);
  });
});

/** Closes idle connections, so that the next request is the first on its connection. */
async function expectNewConnection(): Promise<void> {
  upstream.closeConnections();
  await expect.poll(() => upstream.openConnections).toBe(0);
  await new Promise((resolve) => setTimeout(resolve, 50));
}

describe("an upstream at its concurrency limit", () => {
  it("gets no more requests, and clients get 429 with Retry-After", async () => {
    upstream.script = silence;
    const first = stack.send("chat/completions", { model: "full" });
    await expect.poll(() => upstream.received.length).toBe(1);
    const answer = await stack.send("chat/completions", { model: "full" });
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "1"]);
    const limits = ["limit", "remaining", "reset"].map((name) => answer.headers.get(`x-ratelimit-${name}`));
    expect(limits).toEqual(["1", "0", "1"]);
    expect(await answer.json()).toMatchObject({ error: { code: 429, message: expect.stringContaining("full") } });
    await answerWith(200, "{}")(upstream.last, upstream.last.socket);
    expect((await first).status).toBe(200);
    upstream.script = answerWith(200, "{}");
    expect((await stack.send("chat/completions", { model: "full" })).status).toBe(200);
  });

  it("can be called again as soon as it rejects, before that answer has ended", async () => {
    upstream.next.push((_request, socket) => {
      socket.write(`${headOf(503, { "retry-after": "0", "content-length": "100" })}{`);
    });
    const answer = await stack.send("chat/completions", { model: "full" });
    expect([answer.status, upstream.received.length]).toEqual([200, 2]);
    expect(await stack.metric("setpoint_inference_in_flight", 'upstream="full"')).toBe(0);
  });
});

describe("the connection of an answer that nobody reads", () => {
  const begun = headOf(503, { "retry-after": "0", "content-length": String(2 ** 40) });

  it("is closed if that is long", async () => {
    const piece = Buffer.alloc(64 * 1024);
    upstream.next.push((_request, socket) => {
      const writeMore = () => {
        while (!socket.destroyed && socket.write(piece));
      };
      socket.on("drain", writeMore).write(begun);
      writeMore();
    });
    expect((await stack.send("chat/completions", { model: "safe" })).status).toBe(200);
    await upstream.received[0]?.closed;
    // What fits into the buffers of the network, but not what could be sent in a second.
    expect(upstream.received[0]?.socket.bytesWritten).toBeLessThan(64 * 1024 * 1024);
  });

  it("is closed if that does not end soon", async () => {
    upstream.next.push((_request, socket) => {
      socket.write(begun);
    });
    expect((await stack.send("chat/completions", { model: "safe" })).status).toBe(200);
    await upstream.received[0]?.closed;
  });
});
