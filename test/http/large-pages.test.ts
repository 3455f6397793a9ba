import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { RawConnection } from "../support/raw-connection.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ gateway: { requestTimeoutMs: 5_000 } });
});

afterAll(() => stack.close());

const versionCount = 12;
/** One byte each in an RPC message, and six in JSON. */
const prompt = (n: number) => `${n}${"\u0001".repeat(170_000)}`;
const config = (n: number) => ({ top_k: n, text: { filler: "s".repeat(1_000_000) } });

it("sends a page too large for one RPC, complete and in order", async () => {
  const numbers = Array.from({ length: versionCount }, (_, index) => index + 1);
  for (const n of numbers) {
    const { status } = await stack.create("large", { instructions: prompt(n), ...config(n) }, { dialect: "responses" });
    expect(status).toBe(200);
  }
  const page = async (query: string) => {
    const answer = await stack.request<Stored[]>("GET", `/presets/large/versions?${query}`, { key: stack.apiKey });
    expect(answer.status).toBe(200);
    expect(answer.json.total_count).toBe(versionCount);
    return answer.json.data;
  };
  const all = await page("limit=100");
  expect(all.map(({ version }) => version)).toEqual(numbers);
  expect(all.every(({ version, system_prompt }) => system_prompt === prompt(version))).toBe(true);
  expect(all.every((each) => JSON.stringify(each.config) === JSON.stringify(config(each.version)))).toBe(true);
  expect((await page("offset=5&limit=4")).map(({ version }) => version)).toEqual([6, 7, 8, 9]);
  expect((await page("offset=10")).map(({ version }) => version)).toEqual([11, 12]);
});

it("aborts the connection and logs an error if a later part of a page fails", async () => {
  const response = await fetch(`${stack.baseUrl}/api/v1/presets/large/versions`, {
    headers: { authorization: `Bearer ${stack.apiKey}` },
  });
  expect(response.status).toBe(200);
  await stack.preset.stop();
  await expect(response.text()).rejects.toThrow();
  await expect.poll(stack.log).toContain("answer broke off");
  await expect.poll(lastStatus).toBe(500);
  await stack.preset.start();
});

it("logs no error if the client disconnects before the page is sent", async () => {
  const logStart = stack.log().length;
  const connection = await RawConnection.open(stack.baseUrl);
  const path = "/api/v1/presets/large/versions";
  connection.send(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${stack.apiKey}\r\n\r\n`);
  await expect.poll(() => connection.received).toContain("HTTP/1.1 200");
  connection.reset();
  await expect.poll(lastStatus).toBe(499);
  expect(stack.log().slice(logStart)).not.toMatch(/"level":[456]0/);
});

/** The status in the last line of the gateway's access log. */
function lastStatus(): number | undefined {
  const lines = stack
    .log()
    .trim()
    .split("\n")
    .filter((line) => line.includes('"route"'));
  return JSON.parse(lines.at(-1) ?? "{}").status;
}

it("reads only one part of the page for a HEAD", async () => {
  const headers = { "x-request-id": "only-the-head" };
  const { status, text } = await stack.request("HEAD", "/presets/large/versions", { key: stack.apiKey, headers });
  expect([status, text]).toEqual([200, ""]);
  await sleep(500);
  const lines = stack.log().split("\n");
  const reads = lines.filter((line) => line.includes("/ListVersions") && line.includes("only-the-head"));
  expect(reads).toHaveLength(1);
});

interface Stored {
  readonly version: number;
  readonly config: unknown;
  readonly system_prompt: string;
}
