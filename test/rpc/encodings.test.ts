import { createRegistry, type DescMethod, type Message } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import type { PresetOutcome } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { fromStatusMessage } from "../../services/platform/rpc/errors.ts";
import { contractFiles } from "../support/contract.ts";
import { openRpcCalls } from "../support/rpc-calls.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { everyWay, type SeenError } from "../support/transports.ts";

const files = await contractFiles();
const methods = files.flatMap(({ services }) => services).flatMap((service) => service.methods);
const ways = everyWay(createRegistry(...files));

let stack: Stack;
/** Of the management key, which may call everything. */
let token: string;

const slug = "encoded";

beforeAll(async () => {
  stack = await startStack();
  const access = openRpcCalls(stack.organization.config);
  token = (await access.gRPC(AccessService.method.exchangeKey, { key: stack.managementKey })).accessToken;
  access.close();
  for (const seed of [1, 2]) await stack.create(slug, { messages: [], seed }, { key: stack.managementKey });
});

afterAll(() => stack.close());

/** A call of a method that succeeds, and one that does not. */
interface Sample {
  readonly good: () => Record<string, unknown>;
  readonly answer: object;
  /** None where the method has no way to fail but for a missing token. */
  readonly bad?: Record<string, unknown>;
  readonly error?: SeenError;
  /** Of each part of a batch. */
  readonly outcomes?: readonly object[];
  readonly isOpen?: boolean;
}

const invalid = (...fields: string[]): SeenError => ({ code: "INVALID_ARGUMENT", reason: "INVALID_REQUEST", fields });
const badPart = { kind: "invalid_argument", reason: "INVALID_REQUEST", violations: [{ path: "slug" }] };
const preset = { slug, designatedVersion: {} };
const noDetails = { fields: [] };

const samples: Readonly<Record<string, Sample>> = {
  "setpoint.preset.v1.PresetService/CreateVersion": {
    good: () => ({ slug, configJson: "{}" }),
    answer: { preset },
    bad: { slug: "-", configJson: "[]" },
    error: invalid("slug", "config_json"),
  },
  "setpoint.preset.v1.PresetService/BatchCreateVersions": {
    good: () => ({
      requests: [
        { slug, configJson: "{}" },
        { slug: "-", configJson: "{}" },
      ],
    }),
    answer: { outcomes: [{}, {}] },
    outcomes: [preset, badPart],
    bad: {},
    error: invalid("requests"),
  },
  "setpoint.preset.v1.PresetService/GetPreset": {
    good: () => ({ slug }),
    answer: { preset },
    bad: { slug: "-" },
    error: invalid("slug"),
  },
  "setpoint.preset.v1.PresetService/BatchGetPresets": {
    good: () => ({ slugs: [slug, "-"] }),
    answer: { outcomes: [{}, {}] },
    outcomes: [preset, badPart],
    bad: {},
    error: invalid("slugs"),
  },
  "setpoint.preset.v1.PresetService/ListPresets": {
    good: () => ({ limit: 1, statuses: [1] }),
    answer: { presets: [{ slug }], totalCount: 1 },
    bad: { statuses: [1, 99] },
    error: invalid("statuses[1]"),
  },
  "setpoint.preset.v1.PresetService/UpdatePreset": {
    good: () => ({ slug, updateMask: { paths: ["name", "description"] }, name: "Name" }),
    answer: { preset: { ...preset, name: "Name" } },
    bad: { slug },
    error: invalid("update_mask"),
  },
  "setpoint.preset.v1.PresetService/GetVersion": {
    good: () => ({ slug, version: 2 }),
    answer: { version: { version: 2, configJson: '{"seed":2}' } },
    bad: { slug, version: 0 },
    error: invalid("version"),
  },
  "setpoint.preset.v1.PresetService/ListVersions": {
    good: () => ({ slug, limit: 2 }),
    answer: { versions: [{ version: 1 }, { version: 2 }] },
    bad: { slug, offset: -1 },
    error: invalid("offset"),
  },
  "setpoint.preset.v1.PresetService/DiffVersions": {
    good: () => ({ slug, fromVersion: 1, toVersion: 2 }),
    answer: { config: [{ key: "seed", fromJson: "1", toJson: "2" }], systemPromptChanged: false },
    bad: { slug, fromVersion: 1 },
    error: invalid("to_version"),
  },
  "setpoint.preset.v1.PresetService/ListChanges": {
    good: () => ({ slug, limit: 1 }),
    answer: { changes: [{ fields: [{}] }] },
    bad: { slug, limit: -1 },
    error: invalid("limit"),
  },
  "setpoint.organization.v1.OrganizationService/ListMembers": {
    good: () => ({}),
    answer: { members: [{}] },
    bad: { limit: 101 },
    error: invalid("limit"),
  },
  "setpoint.organization.v1.AccessService/ExchangeKey": {
    isOpen: true,
    good: () => ({ key: stack.managementKey }),
    answer: { principal: {} },
    bad: { key: "none" },
    error: { code: "UNAUTHENTICATED", reason: "KEY_INVALID", ...noDetails },
  },
  "setpoint.organization.v1.AccessService/GetKeySet": {
    isOpen: true,
    good: () => ({}),
    answer: { jwksJson: expect.stringContaining('"keys"') },
  },
  "grpc.health.v1.Health/Check": {
    isOpen: true,
    good: () => ({}),
    answer: { status: 1 },
    bad: { service: "none" },
    error: { code: "NOT_FOUND", reason: "SERVICE_UNKNOWN", ...noDetails },
  },
  "grpc.health.v1.Health/Watch": { isOpen: true, good: () => ({}), answer: { status: 1 } },
};

const none: Sample = { good: () => ({}), answer: {} };

function nameOf(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}

it("has a sample of every method", () => {
  expect(methods.map(nameOf).sort()).toEqual(Object.keys(samples).sort());
});

describe.each(Object.entries(ways))("over %s", (_way, { takes, open }) => {
  const named = methods
    .filter(takes)
    .map((method) => [nameOf(method), method, samples[nameOf(method)] ?? none] as const);
  const call = (method: DescMethod, request: Record<string, unknown>, by?: string) => {
    const part = method.parent.typeName.startsWith("setpoint.organization.") ? stack.organization : stack.preset;
    return open(part.config)(method, request, by);
  };

  it.each(named)("answers %s", async (_name, method, { good, answer, outcomes }) => {
    const answered = await call(method, good(), token);
    expect(answered).toMatchObject(answer);
    if (outcomes) expect(outcomesIn(answered)).toMatchObject(outcomes);
  });

  it.each(named.filter(([, , { error }]) => error))(
    "tells in details what is wrong with a call of %s",
    async (_name, method, { bad = {}, error }) => {
      await expect(call(method, bad, token)).rejects.toEqual(error);
    },
  );

  it.each(named.filter(([, , { isOpen }]) => !isOpen))("asks for a token for %s", async (_name, method, { good }) => {
    const missing = { code: "UNAUTHENTICATED", reason: "TOKEN_MISSING", fields: [] };
    await expect(call(method, good())).rejects.toEqual(missing);
  });
});

function outcomesIn(message: Message): unknown[] {
  const { outcomes } = message as unknown as { readonly outcomes: readonly PresetOutcome[] };
  return outcomes.map(({ outcome }) => (outcome.case === "error" ? fromStatusMessage(outcome.value) : outcome.value));
}

describe("a method that can be called by GET", () => {
  const gotten = methods.filter(({ idempotency }) => idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS);

  it.each(gotten.map((method) => [nameOf(method), method] as const))(
    "%s puts no secret into a URL",
    (_name, method) => {
      expect(fieldsIn(method.input).filter((field) => /token|key|secret|password|prompt|config/.test(field))).toEqual(
        [],
      );
    },
  );

  it("is none that takes access tokens", async () => {
    const { httpPort } = stack.preset.config;
    const url = `http://127.0.0.1:${httpPort}/setpoint.preset.v1.PresetService/BatchGetPresets?encoding=json&message={}`;
    expect((await fetch(url)).status).toBe(405);
  });

  /** The names of all fields of a message, those of the messages in it included. */
  function fieldsIn({ fields }: DescMethod["input"]): string[] {
    return fields.flatMap((field) => [field.name, ...(field.message ? fieldsIn(field.message) : [])]);
  }
});
