import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { answerWith, HostileUpstream } from "../support/hostile-upstream.ts";
import { entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";

let upstream: HostileUpstream;
let stack: InferenceStack;

beforeAll(async () => {
  upstream = await HostileUpstream.start();
  stack = await startInferenceStack({
    upstreams: [
      entryOf({ url: "http://127.0.0.1:9" }, { name: "gone", models: ["gone"] }),
      entryOf(upstream, { name: "main", models: ["*"] }),
    ],
  });
});

afterAll(async () => {
  await stack.close();
  await upstream.stop();
});

beforeEach(() => upstream.reset());

const body = '{"model":"main"}';
const answer = '{"answered":true}';

/** What the metrics of an upstream count for one request. */
async function countedFor(name: string, status: number, request: string) {
  const of = (metric: string, ...labels: string[]) =>
    stack.metric(`setpoint_inference_${metric}`, `upstream="${name}"`, ...labels);
  const read = async () => ({
    requests: await of("seconds_count"),
    withStatus: await of("seconds_count", `status="${status}"`),
    answers: await of("first_byte_seconds_count"),
    sent: await of("bytes_total", 'direction="sent"'),
    received: await of("bytes_total", 'direction="received"'),
    fallbacks: await of("fallbacks_total"),
  });
  const before = await read();
  await (await stack.send("chat/completions", request)).text();
  const after = await read();
  return Object.fromEntries(
    Object.entries(after).map(([metric, value]) => [metric, value - before[metric as keyof typeof before]]),
  );
}

it.each([
  ["stream", "chat/completions", '{"model":"main","stream":true}'],
  ["whole", "chat/completions", body],
  ["count", "messages/count_tokens", '{"model":"main","messages":[]}'],
] as const)("the first byte of a %s is told from others", async (kind, path, request) => {
  upstream.script = answerWith(200, answer);
  const count = (...labels: string[]) =>
    stack.metric("setpoint_inference_first_byte_seconds_count", 'upstream="main"', ...labels);
  const before = [await count(`answer="${kind}"`), await count()] as const;
  await (await stack.send(path, request)).text();
  expect([await count(`answer="${kind}"`), await count()]).toEqual([before[0] + 1, before[1] + 1]);
});

describe("the metrics of an upstream", () => {
  const once = { requests: 1, withStatus: 1, answers: 1, fallbacks: 0 };

  it.each([200, 400])("count a request with the status %i, its first byte and its bytes", async (status) => {
    upstream.script = answerWith(status, answer);
    const counted = { ...once, sent: body.length, received: answer.length };
    expect(await countedFor("main", status, body)).toEqual(counted);
  });

  it("count the bytes of each attempt, but one request", async () => {
    upstream.next.push(answerWith(429, "{}", { "retry-after": "0" }));
    upstream.script = answerWith(200, answer);
    const counted = { ...once, sent: 2 * body.length, received: answer.length };
    expect(await countedFor("main", 200, body)).toEqual(counted);
  });

  it("count a request that is not answered, without a first byte", async () => {
    const counted = { requests: 1, withStatus: 1, answers: 0, received: 0, fallbacks: 0 };
    expect(await countedFor("gone", 502, '{"model":"gone"}')).toMatchObject(counted);
  });

  it("count a request that falls back at the upstream that failed", async () => {
    const request = '{"models":["gone","main"]}';
    expect(await countedFor("gone", 200, request)).toMatchObject({ requests: 0, fallbacks: 1 });
    expect(await countedFor("main", 200, request)).toMatchObject({ requests: 1, fallbacks: 0 });
  });
});
