import { createRegistry } from "@bufbuild/protobuf";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { keyFromBytes } from "../../services/platform/auth/key-format.ts";
import { unavailable } from "../../services/platform/domain/domain-error.ts";
import { grpcDefinitionOf } from "../support/grpc-definition.ts";
import { openStubService, type StubService } from "../support/stub-service.ts";
import { everyTransport } from "../support/transports.ts";

const { getVersion, listVersions, getPreset, listPresets } = PresetService.method;

let service: StubService;

beforeAll(async () => {
  service = await openStubService({
    methods: {
      // Protobuf cannot encode the number, and JSON cannot encode the time.
      getVersion: async () => ({ version: { version: 2 ** 40, createTime: { seconds: 10n ** 15n } } }),
      listVersions: async () => undefined as never,
      getPreset: async () => ({}),
      listPresets: async (_request, call) => {
        call.partFailed(unavailable("Not now."), 0);
        throw unavailable("Not now.");
      },
    },
  });
});

afterAll(() => service.close());

/** The log lines of the calls made meanwhile, once there is one for each. */
async function linesOf(call: () => Promise<unknown>, count = 1): Promise<Record<string, unknown>[]> {
  const before = service.lines.length;
  await call();
  await expect.poll(() => service.lines.length).toBeGreaterThanOrEqual(before + count);
  return service.lines.slice(before).map((line) => JSON.parse(line));
}

describe.each([
  ["cannot be encoded", getVersion, { slug: "a", version: 1 }],
  ["is missing", listVersions, { slug: "a" }],
] as const)("an answer that %s", (_what, method, request) => {
  const ways = Object.entries(everyTransport(createRegistry())).filter(([, { takes }]) => takes(method));
  const rpc = `setpoint.preset.v1.PresetService/${method.name}`;

  it.each(ways)("is logged and counted as INTERNAL over %s", async (_way, { open }) => {
    const counts = () => Promise.all(["INTERNAL", "OK"].map((code) => service.counted(rpc, code)));
    const [faultsBefore = 0] = await counts();
    const lines = await linesOf(async () => {
      await expect(open(service)(method, request, service.token)).rejects.toMatchObject({ code: "INTERNAL" });
    });
    expect(lines).toMatchObject([{ rpc, code: "INTERNAL", msg: "rpc failed", err: {} }]);
    expect(await counts()).toEqual([faultsBefore + 1, 0]);
  });
});

describe("an error without a cause", () => {
  const ways = Object.entries(everyTransport(createRegistry())).filter(([, { takes }]) => takes(listPresets));

  it.each(ways)("is logged as thrown, not as sent, over %s", async (_way, { open }) => {
    const lines = await linesOf(async () => {
      await expect(open(service)(listPresets, {}, service.token)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    }, 2);
    const err = { type: "DomainError", message: "Not now." };
    expect(lines).toMatchObject([
      { msg: "part of an rpc failed", err },
      { msg: "rpc failed", err },
    ]);
  });
});

/** Makes a call with these headers, whatever its outcome. */
type Send = (headers: Record<string, string>) => Promise<unknown>;

const senders: [string, Send][] = [
  [
    "Connect",
    (headers) =>
      fetch(`http://127.0.0.1:${service.httpPort}/${getPreset.parent.typeName}/${getPreset.name}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: "{}",
      }),
  ],
  [
    "gRPC",
    (headers) => {
      const client = new Client(`127.0.0.1:${service.grpcPort}`, credentials.createInsecure());
      const { path } = grpcDefinitionOf(getPreset);
      const metadata = new Metadata();
      for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
      const asIs = (bytes: Buffer) => bytes;
      return new Promise<void>((resolve) => {
        client.makeUnaryRequest(path, asIs, asIs, Buffer.alloc(0), metadata, () => {
          client.close();
          resolve();
        });
      });
    },
  ],
];

describe.each(senders)("the request id of a call over %s", (_protocol, send) => {
  const key = keyFromBytes(Buffer.alloc(32, 7));
  const authorization = () => `Bearer ${service.token}`;
  const uuid = "019a7c2e-5d1f-7abc-8def-0123456789ab";
  const batch = Array(64).fill(uuid).join(",");

  it.each([
    ["is logged", "mine", "mine"],
    ["is not logged if it is a key", key, undefined],
    ["is not logged if it is a token", "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1c2VyIn0.c2ln", undefined],
    ["is not logged if it is too long", "a".repeat(10_000), undefined],
    ["is not logged if it is free text", "what the caller asked for", undefined],
    ["is logged if it is the first of several, and the others are counted", batch, `${uuid} +63`],
  ])("%s, for an unauthenticated caller", async (_name, sent, logged) => {
    const [line] = await linesOf(() => send({ "x-request-id": sent }));
    expect(line).toMatchObject({ code: "UNAUTHENTICATED" });
    expect(line?.request_id).toBe(logged);
  });

  it.each([
    ["is logged", "mine", "mine"],
    ["is logged for every part of a batch", batch, batch],
    ["is logged for all requests that share a part", "a|b,c", "a|b,c"],
    ["is not logged if one part is a key", `a,${key}`, undefined],
    ["is not logged if there are too many", `${batch},${uuid}`, undefined],
  ])("%s, for an authenticated caller", async (_name, sent, logged) => {
    const [line] = await linesOf(() => send({ "x-request-id": sent, authorization: authorization() }));
    expect(line).toMatchObject({ code: "OK" });
    expect(line?.request_id).toBe(logged);
  });

  it("is the only caller-supplied text in a log line", async () => {
    const words = "words-of-the-caller";
    const headers = {
      authorization: `Bearer ${words}`,
      "user-agent": words,
      "x-forwarded-for": words,
      "x-request-id": `not sane ${words}`,
    };
    const lines = await linesOf(() => send(headers));
    expect(JSON.stringify(lines)).not.toContain(words);
  });
});
