import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { ErrorInfoSchema } from "../../proto/gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../proto/gen/google/rpc/status_pb.ts";
import { PresetSchema } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import type { PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { unavailable } from "../../services/platform/domain/domain-error.ts";
import { Metrics } from "../../services/platform/observe/metrics.ts";
import type { CallOptions, Methods } from "../../services/platform/rpc/grpc-client.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { presetClient } from "./preset-client.ts";

const unavailableCode = 14;
const deadlineExceededCode = 4;
const notFoundCode = 5;
const resourceExhaustedCode = 8;

interface Named {
  readonly slug?: string;
}
type Outcome = (slug: string) => object;

const found: Outcome = (slug) => ({ outcome: { case: "preset", value: create(PresetSchema, { slug }) } });
const failed = (code: number) => ({ outcome: { case: "error", value: create(StatusSchema, { code, message: "no" }) } });

const tooLarge = create(StatusSchema, {
  code: resourceExhaustedCode,
  details: [anyPack(ErrorInfoSchema, create(ErrorInfoSchema, { reason: "ANSWER_TOO_LARGE", domain: "setpoint" }))],
});

/** Calls on a service that answers each single creation, and each part of a batch as `outcomeOf` says. */
function callsOn(outcomeOf: Outcome) {
  const made: string[][] = [];
  const presets = {
    createVersion: async ({ slug = "" }: Named) => {
      made.push([slug]);
      return { preset: create(PresetSchema, { slug }) };
    },
    batchCreateVersions: async (batch: { requests?: Named[]; creations?: { request: Named }[] }) => {
      const requests = batch.requests ?? batch.creations?.map(({ request }) => request) ?? [];
      const slugs = requests.map(({ slug = "" }) => slug);
      made.push(slugs);
      return { outcomes: slugs.map(outcomeOf) };
    },
  } as unknown as Methods<typeof PresetService>;
  return { calls: presetClient(presets, new Metrics("test")), made };
}

function options(accessToken = "token"): CallOptions {
  return { accessToken, requestId: "r", deadlineMs: monotonicMs() + 10_000 };
}

describe("createVersion", () => {
  it("batches simultaneous creations, even of two callers", async () => {
    const { calls, made } = callsOn(found);
    const answers = await Promise.all([
      calls.createVersion({ slug: "a" }, options("one")),
      calls.createVersion({ slug: "b" }, options("two")),
    ]);
    expect(answers.map(({ slug }) => slug)).toEqual(["a", "b"]);
    expect(made).toEqual([["a", "b"]]);
  });

  it("repeats a part alone if its service was unavailable", async () => {
    const { calls, made } = callsOn((slug) => (slug === "b" ? failed(unavailableCode) : found(slug)));
    const answers = await Promise.all(["a", "b", "c"].map((slug) => calls.createVersion({ slug }, options())));
    expect(answers.map(({ slug }) => slug)).toEqual(["a", "b", "c"]);
    expect(made).toEqual([["a", "b", "c"], ["b"]]);
  });

  it("tells the caller of a repeated part that it may already be stored", async () => {
    const { calls } = callsOn((slug) => (slug === "b" ? failed(unavailableCode) : found(slug)));
    const outcomeUnknown: string[] = [];
    const create = (slug: string) =>
      calls.createVersion({ slug }, { ...options(), onOutcomeUnknown: () => outcomeUnknown.push(slug) });
    await Promise.all(["a", "b", "c"].map(create));
    expect(outcomeUnknown).toEqual(["b"]);
  });

  it("repeats alone only parts with time left after the service timed out", async () => {
    const { calls, made } = callsOn((slug) => (slug === "a" ? found(slug) : failed(deadlineExceededCode)));
    const late = { ...options(), deadlineMs: monotonicMs() + 50 };
    const results = await Promise.allSettled([
      calls.createVersion({ slug: "a" }, options()),
      calls.createVersion({ slug: "b" }, options()),
      calls.createVersion({ slug: "c" }, late),
    ]);
    expect(results).toMatchObject([
      { value: { slug: "a" } },
      { value: { slug: "b" } },
      { reason: { kind: "deadline_exceeded" } },
    ]);
    expect(made).toEqual([["a", "b", "c"], ["b"]]);
  });

  it("gives a part without time left the least time, and not that of the others", async () => {
    const timeouts: (number | undefined)[] = [];
    const presets = {
      batchCreateVersions: async ({ creations = [] }: { creations?: { timeoutMs?: number }[] }) => {
        timeouts.push(...creations.map(({ timeoutMs }) => timeoutMs));
        return { outcomes: creations.map(() => found("a")) };
      },
    } as unknown as Methods<typeof PresetService>;
    const client = presetClient(presets, new Metrics("test"));
    const late = { ...options(), deadlineMs: monotonicMs() };
    await Promise.all([client.createVersion({ slug: "a" }, options()), client.createVersion({ slug: "b" }, late)]);
    expect(timeouts).toEqual([expect.any(Number), 1]);
  });

  it("fails only the rejected part", async () => {
    const { calls, made } = callsOn((slug) => (slug === "b" ? failed(notFoundCode) : found(slug)));
    const results = await Promise.allSettled(["a", "b"].map((slug) => calls.createVersion({ slug }, options())));
    expect(results).toMatchObject([{ value: { slug: "a" } }, { reason: { kind: "not_found" } }]);
    expect(made).toEqual([["a", "b"]]);
  });

  it("repeats each creation alone if a batch returns no outcomes", async () => {
    const { calls, made } = callsOn(() => ({ outcome: { case: undefined } }));
    const answers = await Promise.all(["a", "b"].map((slug) => calls.createVersion({ slug }, options())));
    expect(answers.map(({ slug }) => slug)).toEqual(["a", "b"]);
    expect(made).toEqual([["a", "b"], ["a"], ["b"]]);
  });

  it("repeats each creation at most once if a batch is answered in part", async () => {
    const made: string[] = [];
    const presets = {
      createVersion: async ({ slug = "" }: Named) => {
        made.push(slug);
        if (slug === "a") throw unavailable("away");
        return { preset: create(PresetSchema, { slug }) };
      },
      batchCreateVersions: async () => ({ outcomes: [{ outcome: { case: "error", value: tooLarge } }] }),
    } as unknown as Methods<typeof PresetService>;
    const client = presetClient(presets, new Metrics("test"));
    const results = await Promise.allSettled(["a", "b"].map((slug) => client.createVersion({ slug }, options())));
    expect(results).toMatchObject([{ reason: { kind: "unavailable" } }, { value: { slug: "b" } }]);
    expect(made).toEqual(["a", "b"]);
  });

  it("sends a large creation alone", async () => {
    const { calls, made } = callsOn(found);
    const large = { slug: "large", configJson: "x".repeat(700_000), systemPrompt: "y".repeat(700_000) };
    await Promise.all([large, { slug: "a" }, { slug: "b" }].map((each) => calls.createVersion(each, options())));
    expect(made).toEqual([["large"], ["a", "b"]]);
  });
});

describe("getPreset", () => {
  it("sends the known version of each read in a batch", async () => {
    const batches: unknown[] = [];
    const presets = {
      batchGetPresets: async (batch: { slugs?: string[]; reads?: Named[] }) => {
        batches.push(batch);
        return { outcomes: (batch.slugs ?? batch.reads?.map(({ slug = "" }) => slug))?.map(found) };
      },
    } as unknown as Methods<typeof PresetService>;
    const client = presetClient(presets, new Metrics("test"));
    const reads = [{ slug: "a", knownVersionId: "1" }, { slug: "b" }, { slug: "a" }];
    const answers = await Promise.all(reads.map((read) => client.getPreset(read, options())));
    expect(answers.map(({ slug }) => slug)).toEqual(["a", "b", "a"]);
    expect(batches).toMatchObject([{ reads }]);
  });

  it("reads alone what does not fit into a batch answer, a few at a time", async () => {
    let underWay = 0;
    let mostUnderWay = 0;
    const alone: string[] = [];
    const presets = {
      getPreset: async ({ slug = "" }: Named) => {
        alone.push(slug);
        mostUnderWay = Math.max(mostUnderWay, ++underWay);
        await new Promise(setImmediate);
        underWay -= 1;
        return { preset: create(PresetSchema, { slug }) };
      },
      batchGetPresets: async ({ slugs = [] }: { slugs?: string[] }) => ({
        outcomes: slugs.map((slug, index) =>
          index === 0 ? found(slug) : { outcome: { case: "error", value: tooLarge } },
        ),
      }),
    } as unknown as Methods<typeof PresetService>;
    const slugs = Array.from({ length: 20 }, (_, index) => `large-${index}`);
    const client = presetClient(presets, new Metrics("test"));
    const answers = await Promise.all(slugs.map((slug) => client.getPreset({ slug }, options())));
    expect(answers.map(({ slug }) => slug)).toEqual(slugs);
    expect(alone).toEqual(slugs.slice(1));
    expect(mostUnderWay).toBeLessThanOrEqual(4);
  });
});
