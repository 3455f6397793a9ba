import { createRegistry, type DescMethod, type Message } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import type { PresetOutcome } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { fromStatusMessage } from "../../services/platform/rpc/status.ts";
import { contractFiles } from "../support/contract.ts";
import { openRpcCalls } from "../support/rpc-calls.ts";
import { healthSamples, organizationSamples, presetSamples, type Sample } from "../support/rpc-samples.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { everyTransport } from "../support/transports.ts";

const files = await contractFiles();
const methods = files.flatMap(({ services }) => services).flatMap((service) => service.methods);
const ways = everyTransport(createRegistry(...files));

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

const samples: Readonly<Record<string, Sample>> = {
  ...presetSamples(slug),
  ...organizationSamples(() => stack),
  ...healthSamples,
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
    const answered = await call(method, await good(), token);
    expect(answered).toMatchObject(answer);
    if (outcomes) expect(outcomesIn(answered)).toMatchObject(outcomes);
  });

  it.each(named.filter(([, , { error }]) => error))(
    "returns error details for an invalid call of %s",
    async (_name, method, { bad = {}, error }) => {
      await expect(call(method, bad, token)).rejects.toEqual(error);
    },
  );

  it.each(named.filter(([, , { isOpen }]) => !isOpen))("requires a token for %s", async (_name, method, { good }) => {
    const missing = { code: "UNAUTHENTICATED", reason: "TOKEN_MISSING", fields: [] };
    await expect(call(method, await good())).rejects.toEqual(missing);
  });
});

function outcomesIn(message: Message): unknown[] {
  const { outcomes } = message as unknown as { readonly outcomes: readonly PresetOutcome[] };
  return outcomes.map(({ outcome }) => (outcome.case === "error" ? fromStatusMessage(outcome.value) : outcome.value));
}

describe("a method callable by GET", () => {
  const gotten = methods.filter(({ idempotency }) => idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS);

  /** The hash or the id of a key. */
  const names = ["setpoint.organization.v1.GetKeyRequest.key"];

  it.each(gotten.map((method) => [nameOf(method), method] as const))(
    "has no secret in its URL: %s",
    (_name, method) => {
      const fields = fieldsIn(method.input).filter((field) => !names.includes(field));
      expect(fields.filter((field) => /token|key|secret|password|prompt|config/.test(field))).toEqual([]);
    },
  );

  it("does not include methods that take access tokens in the message", async () => {
    const { httpPort } = stack.preset.config;
    const url = `http://127.0.0.1:${httpPort}/setpoint.preset.v1.PresetService/BatchGetPresets?encoding=json&message={}`;
    expect((await fetch(url)).status).toBe(405);
  });

  /** The names of all fields of a message, those of the messages in it included. */
  function fieldsIn({ fields }: DescMethod["input"]): string[] {
    return fields.flatMap((field) => [
      `${field.parent.typeName}.${field.name}`,
      ...(field.message ? fieldsIn(field.message) : []),
    ]);
  }
});
