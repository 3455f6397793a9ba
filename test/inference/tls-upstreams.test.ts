import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createAuthority } from "../support/certificates.ts";
import {
  answerWith,
  chunkOf,
  HostileUpstream,
  headOf,
  lastChunk,
  streamBegun,
  streamHead,
} from "../support/hostile-upstream.ts";
import { entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";

const folder = mkdtempSync(join(tmpdir(), "setpoint-tls-upstreams-"));
const trusted = getCACertificates("default");
const request = { model: "m", messages: [{ role: "user", content: "Hi" }] };
const event = 'data: {"choices":[{"delta":{"content":"é"}}]}\n\n';

let upstream: HostileUpstream;
let stranger: HostileUpstream;
const plain = createServer();
let stack: InferenceStack;

beforeAll(async () => {
  const start = (name: string) => {
    const files = createAuthority(name).issue(join(folder, name));
    const certified = { cert: readFileSync(files.certificateFile), key: readFileSync(files.privateKeyFile) };
    return HostileUpstream.start(0, certified);
  };
  upstream = await start("known");
  stranger = await start("unknown");
  setDefaultCACertificates([...trusted, readFileSync(join(folder, "known", "ca.crt"), "utf8")]);
  await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
  const at = (name: string, url: string) => entryOf({ url }, { name, models: [name] });
  stack = await startInferenceStack({
    upstreams: [
      at("stranger", stranger.url),
      at("plain", `https://127.0.0.1:${(plain.address() as AddressInfo).port}/v1`),
      at("nowhere", "https://no..where/v1"),
      entryOf(upstream),
    ],
  });
});

afterAll(async () => {
  await stack.close();
  await upstream.stop();
  await stranger.stop();
  plain.close();
  setDefaultCACertificates(trusted);
  rmSync(folder, { recursive: true });
});

beforeEach(() => upstream.reset());

it("reuses a TLS connection to the upstream", async () => {
  for (const _ of [1, 2, 3]) {
    const answer = await stack.send("chat/completions", request);
    expect([answer.status, await answer.text()]).toEqual([200, '{"ok":true}']);
  }
  expect(upstream.received.map(({ earlierOnConnection }) => earlierOnConnection).slice(1)).toEqual([1, 2]);
});

it("streams an answer split anywhere over TLS", async () => {
  const whole = Buffer.concat([Buffer.from(streamHead), ...Array(20).fill(chunkOf(event)), Buffer.from(lastChunk)]);
  upstream.script = async (_request, socket) => {
    for (let at = 0; at < whole.length; at += 7) {
      await new Promise((resolve) => socket.write(whole.subarray(at, at + 7), resolve));
    }
  };
  const answer = await stack.send("chat/completions", { ...request, stream: true });
  expect(await answer.text()).toBe(event.repeat(20));
});

it("carries large bodies in both directions over TLS", async () => {
  const large = JSON.stringify({ text: "x".repeat(9_000_000) });
  upstream.script = answerWith(200, large);
  const content = "y".repeat(9_000_000);
  const answer = await stack.send("chat/completions", { ...request, messages: [{ role: "user", content }] });
  expect((await answer.text()) === large).toBe(true);
  expect(upstream.last.bodyBytes).toBeGreaterThan(9_000_000);
});

it("does not mistake an interim answer for the answer over TLS", async () => {
  const answerIt = answerWith(200, '{"ok":true}');
  upstream.script = (received, socket) => {
    socket.write(headOf(100));
    setTimeout(() => void answerIt(received, socket), 20);
  };
  const answer = await stack.send("chat/completions", request);
  expect([answer.status, await answer.text()]).toEqual([200, '{"ok":true}']);
});

it("reports a stream that breaks off over TLS", async () => {
  upstream.script = (_request, socket) => {
    socket.write(Buffer.concat([Buffer.from(streamHead), chunkOf(event), chunkOf(event.slice(0, 9))]));
    setTimeout(() => socket.destroy(), 20);
  };
  const text = await (await stack.send("chat/completions", { ...request, stream: true })).text();
  expect(text).toMatch(/^data: \{"choices".*\n\ndata: \{.*"error".*\n\n/s);
});

it("closes the TLS connection when the client disconnects", async () => {
  upstream.script = streamBegun(event);
  const abort = new AbortController();
  const answer = await stack.send("chat/completions", { ...request, stream: true }, { signal: abort.signal });
  await answer.body?.getReader().read();
  abort.abort();
  await upstream.last.closed;
});

it("does not connect to an upstream with an untrusted certificate", async () => {
  const answer = await stack.send("chat/completions", { ...request, model: "stranger" });
  expect(answer.status).toBe(502);
  expect(await answer.text()).toContain("The upstream stranger cannot be reached (UNABLE_TO_VERIFY_LEAF_SIGNATURE).");
  expect(stranger.received).toEqual([]);
});

it.each([
  ["stranger", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "has to check its certificate", "false"],
  ["plain", "ERR_SSL_WRONG_VERSION_NUMBER", "may have to change its address", "false"],
  // A service of a cluster has no address while none of its pods is ready.
  ["nowhere", "ENOTFOUND", "may have to change its address", null],
])("says what to mend where waiting may not help: %s (%s)", async (model, code, whatHelps, shouldRetry) => {
  const answer = await stack.send("chat/completions", { ...request, model });
  expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([502, shouldRetry]);
  const message = `The upstream ${model} cannot be reached (${code}). Whoever runs this gateway ${whatHelps}.`;
  expect(await answer.json()).toMatchObject({ error: { message } });
});
