import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import type { Preset } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import { type PresetOutcome, PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { fromStatusMessage } from "../../services/platform/rpc/status.ts";
import { failureOf } from "../support/failures.ts";
import { freshName } from "../support/fresh-name.ts";
import { waitsForLock } from "../support/lock-waits.ts";
import { upTo } from "../support/preset-store.ts";
import { openRpcCalls, type RpcCalls } from "../support/rpc-calls.ts";
import { type Stack, startStack } from "../support/stack.ts";
import type { Tenant } from "../support/tenants.ts";

const { batchCreateVersions, batchGetPresets, updatePreset } = PresetService.method;

let stack: Stack;
let calls: RpcCalls;
let token: string;
let other: Tenant;
let otherToken: string;
let readerToken: string;
let inferenceToken: string;

beforeAll(async () => {
  stack = await startStack();
  calls = openRpcCalls(stack.preset.config);
  const access = openRpcCalls(stack.organization.config);
  other = await stack.tenants.createOrganization();
  const tokenOf = async (key: string) => (await access.gRPC(AccessService.method.exchangeKey, { key })).accessToken;
  token = await tokenOf(stack.apiKey);
  otherToken = await tokenOf(other.apiKey);
  readerToken = await tokenOf((await stack.tenants.createKey(stack, { permissions: ["presets:read"] })).secret);
  inferenceToken = await tokenOf((await stack.tenants.createKey(stack, { permissions: ["inference"] })).secret);
  access.close();
});

afterAll(async () => {
  calls.close();
  await stack.close();
});

/** The preset, or the reason of the error. */
function seenOf({ outcome }: PresetOutcome) {
  return outcome.case === "error" ? fromStatusMessage(outcome.value).reason : outcome.value;
}

it("answers a gRPC client with default limits, if it asks for as little at once as the contract says", async () => {
  const stock = openRpcCalls(stack.preset.config, {});
  onTestFinished(() => stock.close());
  const large = { configJson: "{}", systemPrompt: "b".repeat(1024 * 1024 - 2) };
  const creations = ["a", "b", "c"].map((name) => ({ slug: freshName(name), ...large }));
  const created = await stock.gRPC(batchCreateVersions, { requests: creations }, token);
  expect(created.outcomes.map(({ outcome }) => outcome.case)).toEqual(Array(3).fill("preset"));

  const slug = freshName("full");
  const full = { slug, configJson: "{}", systemPrompt: "b".repeat(256 * 1024 - 2) };
  await stock.gRPC(batchCreateVersions, { requests: [full] }, token);
  const texts = { name: "😀".repeat(255), description: "😀".repeat(2_000) };
  await stock.gRPC(updatePreset, { slug, updateMask: { paths: ["name", "description"] }, ...texts }, token);
  const read = await stock.gRPC(batchGetPresets, { slugs: Array(14).fill(slug) }, token);
  expect(read.outcomes.map(({ outcome }) => outcome.case)).toEqual(Array(14).fill("preset"));
  const tooMuch = stock.gRPC(batchGetPresets, { slugs: Array(16).fill(slug) }, token);
  expect((await failureOf(tooMuch)).code).toBe("RESOURCE_EXHAUSTED");
});

describe.each(["gRPC", "Connect"] as const)("over %s", (protocol) => {
  it("creates each version of a batch as if it were sent alone, in order", async () => {
    const slug = freshName(`batch-${protocol}`);
    const requests = [
      { slug, configJson: '{"seed":1}' },
      { slug: "-bad", configJson: "[]" },
      { slug, configJson: '{"seed":2}' },
      { slug: `${slug}-other`, configJson: "{}" },
    ];
    const { outcomes } = await calls[protocol](batchCreateVersions, { requests }, token);
    expect(outcomes.map(({ outcome }) => outcome.case)).toEqual(["preset", "error", "preset", "preset"]);
    const versions = outcomes.map(({ outcome }) => outcome.case === "preset" && outcome.value.designatedVersion);
    expect(versions).toMatchObject([
      { version: 1, configJson: '{"seed":1}' },
      false,
      { version: 2, configJson: '{"seed":2}' },
      { version: 1 },
    ]);
    const refused = outcomes[1]?.outcome;
    const error = refused?.case === "error" ? fromStatusMessage(refused.value) : undefined;
    expect(error).toMatchObject({ kind: "invalid_argument", reason: "INVALID_REQUEST" });
    expect(error?.violations.map(({ path }) => path)).toEqual(["slug", "config_json"]);
  });

  it("returns each preset of a batch, or its error, in order", async () => {
    const slug = `read-${protocol}`;
    await calls[protocol](batchCreateVersions, { requests: [{ slug, configJson: "{}" }] }, token);
    const { outcomes } = await calls[protocol](batchGetPresets, { slugs: [slug, "none", slug, "-bad"] }, token);
    expect(outcomes.map(seenOf)).toMatchObject([{ slug }, "PRESET_NOT_FOUND", { slug }, "INVALID_REQUEST"]);
  });

  it("uses each part's own token, and rejects only parts with a bad one", async () => {
    const slug = freshName(`mine-${protocol}`);
    const tokens = [token, otherToken, "bad", readerToken, inferenceToken, "", token];
    const creations = tokens.map((accessToken, index) => ({
      accessToken,
      request: { slug, configJson: `{"seed":${index}}` },
    }));
    const created = await calls[protocol](batchCreateVersions, { creations }, otherToken);
    const mine = { workspaceId: stack.workspaceId };
    expect(created.outcomes.map(seenOf)).toMatchObject([
      { ...mine, designatedVersion: { version: 1 } },
      { workspaceId: other.workspaceId, designatedVersion: { version: 1 } },
      "TOKEN_INVALID",
      "PERMISSION_MISSING",
      "PERMISSION_MISSING",
      "TOKEN_INVALID",
      { ...mine, designatedVersion: { version: 2 } },
    ]);
    const reads = tokens.map((accessToken) => ({ accessToken, slug }));
    const read = await calls[protocol](batchGetPresets, { reads }, otherToken);
    const newest = { ...mine, designatedVersion: { configJson: '{"seed":6}' } };
    expect(read.outcomes.map(seenOf)).toMatchObject([
      newest,
      { workspaceId: other.workspaceId, designatedVersion: { configJson: '{"seed":1}' } },
      "TOKEN_INVALID",
      newest,
      newest,
      "TOKEN_INVALID",
      newest,
    ]);
  });

  it("omits the content of a version that the caller knows, however large", async () => {
    const slug = freshName(`known-${protocol}`);
    const content = { configJson: `{"model":"${"a".repeat(1_000_000)}"}`, systemPrompt: "b".repeat(1_000_000) };
    const created = await calls[protocol](batchCreateVersions, { requests: [{ slug, ...content }] }, token);
    const { designatedVersionId } = seenOf(created.outcomes[0] as PresetOutcome) as Preset;
    const reads = upTo(100).map(() => ({ accessToken: token, slug, knownVersionId: designatedVersionId }));
    const read = await calls[protocol](batchGetPresets, { reads }, token);
    const contents = read.outcomes.map((outcome) => (seenOf(outcome) as Preset).designatedVersion);
    expect(contents.map((version) => [version?.id, version?.configJson, version?.systemPrompt])).toEqual(
      upTo(100).map(() => [designatedVersionId, "", undefined]),
    );
  });

  it("rejects a part without a creation as INVALID_REQUEST", async () => {
    const { outcomes } = await calls[protocol](batchCreateVersions, { creations: [{ accessToken: token }] }, token);
    expect(outcomes.map(seenOf)).toEqual(["INVALID_REQUEST"]);
  });

  it("gives each part its own deadline, limited by the call's", async () => {
    const timeouts = [0, 1, 60_000, -1];
    const creations = timeouts.map((timeoutMs, index) => ({
      accessToken: token,
      timeoutMs,
      request: { slug: `timed-${protocol}-${index}`, configJson: "{}" },
    }));
    const created = await calls[protocol](batchCreateVersions, { creations }, token);
    expect(created.outcomes.map(seenOf)).toMatchObject([{}, "DEADLINE_EXCEEDED", {}, "INVALID_REQUEST"]);
    const reads = creations.map(({ accessToken, request: { slug } }) => ({ accessToken, slug }));
    const read = await calls[protocol](batchGetPresets, { reads }, token);
    expect(read.outcomes.map(seenOf)).toMatchObject([{}, "PRESET_NOT_FOUND", {}, "PRESET_NOT_FOUND"]);
  });

  it("answers completed parts in time if others outlast the call", async () => {
    const held = { slug: freshName(`held-${protocol}`), configJson: "{}" };
    const free = { slug: freshName(`free-${protocol}`), configJson: "{}" };
    await calls[protocol](batchCreateVersions, { requests: [held] }, token);
    const connection = await stack.presetPool.getConnection();
    onTestFinished(async () => {
      await connection.query("ROLLBACK");
      connection.release();
    });
    await connection.query("START TRANSACTION");
    await connection.execute("SELECT slug FROM presets WHERE slug = ? FOR UPDATE", [held.slug]);

    const running = calls[protocol](batchCreateVersions, { requests: [held] }, token, 2_800);
    await expect.poll(() => waitsForLock(stack.presetPool)).toBe(true);
    const waiting = await calls[protocol](batchCreateVersions, { requests: [held, free] }, token, 1_800);
    expect(waiting.outcomes.map(seenOf)).toMatchObject(["DEADLINE_EXCEEDED", { designatedVersion: { version: 1 } }]);
    // Its statement may still be executed.
    expect((await running).outcomes.map(seenOf)).toEqual(["UNAVAILABLE"]);

    await connection.query("ROLLBACK");
    const { outcomes } = await calls[protocol](batchCreateVersions, { requests: [held] }, token);
    expect(outcomes.map(seenOf)).toMatchObject([{ designatedVersion: { version: 2 } }]);
  });

  it("returns at most 8 MiB, and leaves out the parts that do not fit", async () => {
    const large = `large-${protocol}`;
    const small = `small-${protocol}`;
    const requests = [
      { slug: large, configJson: "{}", systemPrompt: "b".repeat(200 * 1024) },
      { slug: small, configJson: "{}" },
    ];
    await calls[protocol](batchCreateVersions, { requests }, token);
    const { outcomes } = await calls[protocol](batchGetPresets, { slugs: [...Array(60).fill(large), small] }, token);
    const seen = outcomes.map(({ outcome }) =>
      outcome.case === "error" ? fromStatusMessage(outcome.value).kind : (outcome.value as Preset).slug,
    );
    expect(seen).toEqual([...Array(38).fill(large), ...Array(22).fill("resource_exhausted"), small]);
  });

  it("leaves out a part that would hold up the others, unless it is alone", async () => {
    const [edge, larger, small] = [`edge-${protocol}`, `larger-${protocol}`, `beside-${protocol}`];
    const contentOf = (bytes: number) => ({ configJson: "{}", systemPrompt: "b".repeat(bytes - 2) });
    const requests = [
      { slug: edge, ...contentOf(256 * 1024) },
      { slug: larger, ...contentOf(256 * 1024 + 1) },
      { slug: small, configJson: "{}" },
    ];
    await calls[protocol](batchCreateVersions, { requests }, token);
    const read = async (...slugs: string[]) =>
      (await calls[protocol](batchGetPresets, { slugs }, token)).outcomes.map(seenOf);
    expect(await read(edge, larger, small)).toMatchObject([{ slug: edge }, "ANSWER_TOO_LARGE", { slug: small }]);
    expect(await read(larger)).toMatchObject([{ slug: larger }]);
  });

  it("answers every stored creation however large, and leaves out large replays", async () => {
    const slug = `replayed-${protocol}`;
    const systemPrompt = "b".repeat(1024 * 1024);
    const requestDigest = new Uint8Array(32);
    const ids = Array.from({ length: 12 }, (_, index) => `${slug}-${index}`);
    const stored = ids.map((requestId) => ({ slug, configJson: "{}", systemPrompt, requestId, requestDigest }));
    const created = await calls[protocol](batchCreateVersions, { requests: stored }, token);
    expect(created.outcomes.map(({ outcome }) => outcome.case)).toEqual(Array(12).fill("preset"));
    const repeated = ids.map((requestId) => ({ slug, configJson: "{}", requestId, requestDigest }));
    const replayed = await calls[protocol](batchCreateVersions, { requests: repeated }, token);
    const outcomes = replayed.outcomes.map(({ outcome }) => outcome.case);
    expect(outcomes).toEqual([...Array(8).fill("preset"), ...Array(4).fill("error")]);
    expect(seenOf(replayed.outcomes[8] as PresetOutcome)).toBe("ANSWER_TOO_LARGE");
  });

  it("rejects both kinds of lists in one call", async () => {
    const request = { slug: "a", configJson: "{}" };
    const creations = [{ accessToken: token, request }];
    const reads = [{ accessToken: token, slug: "a" }];
    const failures = [
      await failureOf(calls[protocol](batchGetPresets, { slugs: ["a"], reads }, token)),
      await failureOf(calls[protocol](batchCreateVersions, { requests: [request], creations }, token)),
    ];
    expect(failures.map(({ violations }) => violations)).toMatchObject([
      [{ field: "reads" }],
      [{ field: "creations" }],
    ]);
  });

  it.each([0, 101])("rejects a batch of %i", async (count) => {
    const slugs = Array(count).fill("a");
    const requests = slugs.map((slug) => ({ slug, configJson: "{}" }));
    const failures = [
      await failureOf(calls[protocol](batchGetPresets, { slugs }, token)),
      await failureOf(calls[protocol](batchCreateVersions, { requests }, token)),
    ];
    expect(failures.map(({ violations }) => violations)).toMatchObject([[{ field: "slugs" }], [{ field: "requests" }]]);
  });
});
