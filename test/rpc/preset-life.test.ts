import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import {
  type Preset,
  PresetChangeAction,
  PresetStatus,
  type PresetVersion,
} from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import { PresetService, type UpdatePresetRequestSchema } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { mintAccessToken, tokenContent } from "../../services/organization/domain/access-token.ts";
import type { Permission } from "../../services/platform/auth/principal.ts";
import { newId } from "../../services/platform/domain/ids.ts";
import { failureOf } from "../support/failures.ts";
import { freshName } from "../support/fresh-name.ts";
import { uuidV7 } from "../support/patterns.ts";
import { upTo } from "../support/preset-store.ts";
import { type Call, openRpcCalls, type RpcCalls } from "../support/rpc-calls.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { callStock, stockClient } from "../support/stock-grpc.ts";

const { createVersion, getPreset, listPresets, updatePreset } = PresetService.method;
const { getVersion, findSimilarSlug, listVersions, diffVersions, listChanges } = PresetService.method;

type Update = Omit<MessageInitShape<typeof UpdatePresetRequestSchema>, "$typeName" | "updateMask">;

let stack: Stack;
let calls: RpcCalls;
let token: string;

beforeAll(async () => {
  stack = await startStack();
  calls = openRpcCalls(stack.preset.config);
  token = await tokenFor(stack.apiKey);
});

afterAll(async () => {
  calls.close();
  await stack.close();
});

async function tokenFor(key: string): Promise<string> {
  const access = openRpcCalls(stack.organization.config);
  const { accessToken } = await access.gRPC(AccessService.method.exchangeKey, { key });
  access.close();
  return accessToken;
}

/** A token for the stack's own workspace with only these permissions. */
function tokenWith(permissions: readonly Permission[]): string {
  const [signingKey] = stack.organization.config.signingKeys;
  const { userId, organizationId, workspaceId } = stack;
  const principal = { keyId: newId(), keyKind: "api", userId, organizationId, workspaceId, permissions } as const;
  return mintAccessToken(
    tokenContent(principal, { now: new Date(), ttlSeconds: 60, keyExpiresAt: undefined }),
    signingKey,
  ).text;
}

describe.each(["gRPC", "Connect", "Connect GET"] as const)("over %s", (protocol) => {
  const prefix = protocol.replace(" ", "-");
  const call: Call = (method, request, accessToken = token) => calls[protocol](method, request, accessToken);

  const create = async (slug: string, configJson = "{}", systemPrompt?: string): Promise<Preset> => {
    const request = { slug, configJson, ...(systemPrompt === undefined ? {} : { systemPrompt }) };
    return (await call(createVersion, request)).preset as Preset;
  };
  /** Changes the fields that are given, or those that `paths` names. */
  const update = async (slug: string, fields: Update, paths = Object.keys(fields)): Promise<Preset> => {
    const names = paths.filter((path) => !["etags", "requestId"].includes(path));
    const mask = names.map((path) => (path === "designatedVersion" ? "designated_version" : path));
    return (await call(updatePreset, { slug, updateMask: { paths: mask }, ...fields })).preset as Preset;
  };

  describe("GetPreset", () => {
    it("returns the preset with its designated version and all fields", async () => {
      const slug = freshName(`${prefix}-get`);
      await create(slug);
      const created = await create(slug, '{"temperature":1.0}', "Be brief.");
      const { preset } = await call(getPreset, { slug });
      expect(preset).toEqual(created);
      expect(preset).toMatchObject({
        id: expect.stringMatching(uuidV7),
        slug,
        name: slug,
        status: PresetStatus.ACTIVE,
        creatorUserId: stack.userId,
        workspaceId: stack.workspaceId,
        designatedVersion: { version: 2, configJson: '{"temperature":1.0}', systemPrompt: "Be brief." },
      });
      expect(preset?.designatedVersionId).toBe(preset?.designatedVersion?.id);
      expect(preset?.designatedVersion?.updateTime).toEqual(preset?.designatedVersion?.createTime);
      expect(preset?.description).toBeUndefined();
      expect(preset?.statusUpdateTime).toBeUndefined();
      expect(preset?.etag.length).toBeGreaterThan(0);
      expect(preset?.etag.length).toBeLessThanOrEqual(32);
    });

    it("omits the content of the version that the caller knows, and of no other", async () => {
      const slug = freshName(`${prefix}-known`);
      const first = await create(slug, '{"seed":1}', "Be brief.");
      const known = { slug, knownVersionId: first.designatedVersionId };
      const { configJson, systemPrompt, ...others } = first.designatedVersion as PresetVersion;
      expect((await call(getPreset, known)).preset).toEqual({
        ...first,
        designatedVersion: { ...others, configJson: "" },
      });
      const disabled = await update(slug, { status: PresetStatus.DISABLED });
      expect((await call(getPreset, known)).preset).toMatchObject({
        status: PresetStatus.DISABLED,
        etag: disabled.etag,
      });
      const second = await create(slug, '{"seed":2}');
      expect((await call(getPreset, known)).preset).toEqual(second);
    });

    it("returns NOT_FOUND for a missing preset", async () => {
      expect(await failureOf(call(getPreset, { slug: "none" }))).toEqual({
        code: "NOT_FOUND",
        message: "There is no preset none in this workspace. Check the slug, or create it first.",
        reason: "PRESET_NOT_FOUND",
        domain: "setpoint",
        violations: [],
      });
    });
  });

  describe("ListPresets", () => {
    it("returns presets without their version, with the total", async () => {
      const slug = freshName(`${prefix}-listed`);
      const created = await create(slug);
      const { presets, totalCount } = await call(listPresets, { limit: 1 });
      expect(presets).toEqual([{ ...created, designatedVersion: undefined }]);
      expect(totalCount).toBeGreaterThanOrEqual(1);
    });

    it("returns what each preset serves, if requested", async () => {
      const slug = freshName(`${prefix}-serving`);
      await create(slug, '{"temperature":1,"model":"first"}');
      await create(slug, '{"model":"second"}');
      const before = await update(slug, { designatedVersion: 1 });
      const { presets } = await call(listPresets, { query: slug, includeServing: true });
      expect(presets).toEqual([
        {
          ...before,
          designatedVersion: undefined,
          serving: expect.objectContaining({ version: 1, newestVersion: 2, model: "first" }),
        },
      ]);
      const unnamed = await create(slug, '{"seed":1}');
      const { presets: after } = await call(listPresets, { query: slug, includeServing: true });
      expect(after[0]?.designatedVersionId).toBe(unnamed.designatedVersionId);
      expect(after[0]?.serving).toMatchObject({ version: 3, newestVersion: 3 });
      expect(after[0]?.serving?.model).toBeUndefined();
    });

    it("filters by status and text", async () => {
      const slug = `${prefix}-Filtered`;
      await create(slug);
      await update(slug, { status: PresetStatus.DISABLED });
      const filter = { statuses: [PresetStatus.DISABLED, PresetStatus.DISABLED], query: `${prefix}-FILT` };
      const { presets, totalCount } = await call(listPresets, filter);
      expect(presets.map((preset) => preset.slug)).toEqual([slug]);
      expect(totalCount).toBe(1);
      const { totalCount: none } = await call(listPresets, { ...filter, statuses: [PresetStatus.ACTIVE] });
      expect(none).toBe(0);
    });

    it.each([
      [{ offset: -1 }, ["offset"]],
      [{ limit: -1 }, ["limit"]],
      [{ limit: 101 }, ["limit"]],
      [{ statuses: [PresetStatus.ACTIVE, PresetStatus.UNSPECIFIED] }, ["statuses[1]"]],
      [{ statuses: [99 as PresetStatus], query: "x".repeat(256) }, ["statuses[0]", "query"]],
    ])("rejects %j and names every invalid field", async (request, fields) => {
      const failure = await failureOf(call(listPresets, request));
      expect(failure).toMatchObject({ code: "INVALID_ARGUMENT", reason: "INVALID_REQUEST" });
      expect(failure.violations.map(({ field }) => field)).toEqual(fields);
    });
  });

  describe("UpdatePreset", () => {
    it("changes only the fields in the mask", async () => {
      const slug = freshName(`${prefix}-masked`);
      const before = await create(slug);
      const fields = { name: "Name", description: "Not this", status: PresetStatus.ARCHIVED, designatedVersion: 7 };
      const after = await update(slug, fields, ["name"]);
      const { updateTime, etag } = after;
      expect(after).toEqual({ ...before, name: "Name", updateTime, etag, revision: before.revision + 1 });
      expect(after.etag).not.toBe(before.etag);
      expect((await call(getPreset, { slug })).preset).toEqual(after);
    });

    it("changes all fields in the mask at once", async () => {
      const slug = freshName(`${prefix}-all`);
      await create(slug, '{"seed":1}');
      await create(slug, '{"seed":2}');
      const fields = { name: "Name", description: "D", status: PresetStatus.DISABLED, designatedVersion: 1 };
      const after = await update(slug, fields);
      expect(after).toMatchObject({
        name: "Name",
        description: "D",
        status: PresetStatus.DISABLED,
        designatedVersion: { version: 1, configJson: '{"seed":1}' },
      });
      expect(after.statusUpdateTime).toEqual(after.updateTime);
      const { changes } = await call(listChanges, { slug, limit: 1 });
      expect(changes[0]?.fields.map(({ field }) => field)).toEqual([
        "name",
        "description",
        "status",
        "designated_version",
      ]);
    });

    it("removes the description if the mask names it and the request does not set it", async () => {
      const slug = freshName(`${prefix}-described`);
      await create(slug);
      expect((await update(slug, { description: "" })).description).toBe("");
      expect((await update(slug, {}, ["description"])).description).toBeUndefined();
    });

    it("accepts a field named twice in the mask", async () => {
      const slug = freshName(`${prefix}-twice`);
      await create(slug);
      expect((await update(slug, { name: "Once" }, ["name", "name"])).name).toBe("Once");
    });

    it("keeps the etag if nothing changes", async () => {
      const slug = freshName(`${prefix}-same`);
      const before = await create(slug);
      expect(await update(slug, { name: slug, designatedVersion: 1, status: PresetStatus.ACTIVE })).toEqual(before);
    });

    it("requires a current etag if any are given", async () => {
      const slug = freshName(`${prefix}-etag`);
      const first = await create(slug);
      const second = await update(slug, { name: "Second", etags: ["other", first.etag] });
      expect(await failureOf(update(slug, { name: "Third", etags: [first.etag] }))).toMatchObject({
        code: "FAILED_PRECONDITION",
        reason: "ETAG_STALE",
      });
      expect((await call(getPreset, { slug })).preset).toEqual(second);
    });

    it("applies a change once per request id, even with an etag that is stale by then", async () => {
      const slug = freshName(`${prefix}-replay`);
      const first = await create(slug);
      const change = { name: "Once", etags: [first.etag], requestId: newId() };
      const answer = await update(slug, change);
      expect(await update(slug, change)).toEqual(answer);
      expect((await call(listChanges, { slug })).totalCount).toBe(2);
    });

    it("rejects a request id used for another change", async () => {
      const slug = freshName(`${prefix}-reused`);
      await create(slug);
      const requestId = newId();
      const first = await update(slug, { name: "First", requestId });
      expect(await failureOf(update(slug, { name: "Second", requestId }))).toMatchObject({
        code: "ALREADY_EXISTS",
        reason: "REQUEST_ID_REUSED",
      });
      expect((await call(getPreset, { slug })).preset).toEqual(first);
    });

    it("rejects a creation with the request id of a change", async () => {
      const slug = freshName(`${prefix}-reused-by-creation`);
      await create(slug);
      const requestId = `${slug} 1`;
      const changed = await update(slug, { name: "First", requestId });
      const creating = call(createVersion, { slug, configJson: '{"model":"m"}', requestId });
      expect(await failureOf(creating)).toMatchObject({ code: "ALREADY_EXISTS", reason: "REQUEST_ID_REUSED" });
      expect((await call(getPreset, { slug })).preset).toEqual(changed);
    });

    it.each<[string, Update, string[], string[]]>([
      ["an empty mask", { name: "x" }, [], ["update_mask"]],
      ["an unknown path", { name: "x" }, ["name", "slug"], ["update_mask.paths[1]"]],
      ["a path in camel case", { designatedVersion: 1 }, ["designated_Version"], ["update_mask.paths[0]"]],
      ["a wildcard", { name: "x" }, ["*"], ["update_mask.paths[0]"]],
      ["101 paths", { name: "x" }, Array(101).fill("name"), ["update_mask.paths"]],
      ["an unknown path and status", {}, ["slug", "status"], ["update_mask.paths[0]", "status"]],
      ["a name that is not set", {}, ["name"], ["name"]],
      ["a status that is not set", {}, ["status"], ["status"]],
      ["an unknown status", { status: 99 as PresetStatus }, ["status"], ["status"]],
      ["a version that is not set", {}, ["designatedVersion"], ["designated_version"]],
      ["a negative version", { designatedVersion: -1 }, ["designatedVersion"], ["designated_version"]],
      ["a name of 256 characters", { name: "🙂".repeat(256) }, ["name"], ["name"]],
      ["a description of 2,001 characters", { description: "é".repeat(2_001) }, ["description"], ["description"]],
      ["101 etags", { name: "x", etags: Array(101).fill("x") }, ["name"], ["etags"]],
      ["a non-ASCII request id", { name: "x", requestId: "é" }, ["name"], ["request_id"]],
      [
        "several errors at once",
        { name: "", designatedVersion: 0, requestId: "\n" },
        ["name", "designatedVersion"],
        ["request_id", "name", "designated_version"],
      ],
    ])("rejects %s and names every invalid field", async (_name, fields, paths, violating) => {
      const failure = await failureOf(update(`${prefix}-versions`, fields, paths));
      expect(failure).toMatchObject({ code: "INVALID_ARGUMENT", reason: "INVALID_REQUEST", domain: "setpoint" });
      expect(failure.violations.map(({ field }) => field)).toEqual(violating);
    });

    it("rejects a missing version and changes nothing", async () => {
      const slug = freshName(`${prefix}-missing`);
      const before = await create(slug);
      expect(await failureOf(update(slug, { name: "x", designatedVersion: 2 }))).toMatchObject({
        code: "NOT_FOUND",
        reason: "VERSION_NOT_FOUND",
      });
      expect((await call(getPreset, { slug })).preset).toEqual(before);
    });

    it("cannot disable an archived preset or add a version to it", async () => {
      const slug = freshName(`${prefix}-archived`);
      await create(slug);
      await update(slug, { status: PresetStatus.ARCHIVED });
      expect(await failureOf(update(slug, { status: PresetStatus.DISABLED }))).toMatchObject({
        code: "FAILED_PRECONDITION",
        reason: "STATUS_TRANSITION",
      });
      expect(await failureOf(create(slug))).toMatchObject({ code: "FAILED_PRECONDITION", reason: "PRESET_ARCHIVED" });
      await update(slug, { status: PresetStatus.ACTIVE });
      expect((await create(slug)).designatedVersion?.version).toBe(2);
    });
  });

  describe("versions", () => {
    const slug = `${prefix}-versions`;

    beforeAll(async () => {
      for (const n of upTo(4)) await create(slug, `{"seed":${n},"model":"m"}`, n === 4 ? "New." : undefined);
    });

    it("can be read one by one", async () => {
      const { version } = await call(getVersion, { slug, version: 2 });
      expect(version).toMatchObject({ version: 2, configJson: '{"seed":2,"model":"m"}', creatorId: stack.userId });
      expect(version?.systemPrompt).toBeUndefined();
    });

    it("are listed in ascending order", async () => {
      const { versions, totalCount } = await call(listVersions, { slug, offset: 1, limit: 2 });
      expect(versions.map(({ version }) => version)).toEqual([2, 3]);
      expect(totalCount).toBe(4);
      expect(await call(listVersions, { slug, offset: 4 })).toMatchObject({ versions: [], totalCount: 4 });
    });

    it("are compared in either direction", async () => {
      const forward = await call(diffVersions, { slug, fromVersion: 1, toVersion: 4 });
      expect(forward).toMatchObject({
        config: [{ key: "seed", fromJson: "1", toJson: "4" }],
        systemPromptChanged: true,
      });
      const backward = await call(diffVersions, { slug, fromVersion: 3, toVersion: 1 });
      expect(backward).toMatchObject({
        config: [{ key: "seed", fromJson: "3", toJson: "1" }],
        systemPromptChanged: false,
      });
      expect((await call(diffVersions, { slug, fromVersion: 2, toVersion: 2 })).config).toEqual([]);
    });

    it.each([
      ["GetVersion", () => call(getVersion, { slug, version: 5 })],
      ["DiffVersions", () => call(diffVersions, { slug, fromVersion: 1, toVersion: 5 })],
    ])("distinguishes missing versions from missing presets: %s", async (_name, run) => {
      expect(await failureOf(run())).toMatchObject({ code: "NOT_FOUND", reason: "VERSION_NOT_FOUND" });
      expect(await failureOf(call(getVersion, { slug: "none", version: 5 }))).toMatchObject({
        reason: "PRESET_NOT_FOUND",
      });
    });

    it.each([0, -1])("rejects the number %d", async (version) => {
      expect(await failureOf(call(getVersion, { slug, version }))).toMatchObject({ code: "INVALID_ARGUMENT" });
      expect(await failureOf(call(diffVersions, { slug, fromVersion: 1, toVersion: version }))).toMatchObject({
        code: "INVALID_ARGUMENT",
      });
    });
  });

  describe("ListChanges", () => {
    it("lists who changed what, newest first", async () => {
      const slug = freshName(`${prefix}-changes`);
      await create(slug);
      await create(slug);
      const updated = await update(slug, { description: "D", designatedVersion: 1 });
      const { changes, totalCount } = await call(listChanges, { slug });
      expect(totalCount).toBe(3);
      expect(changes).toMatchObject([
        {
          revision: 3,
          action: PresetChangeAction.PRESET_UPDATED,
          userId: stack.userId,
          keyId: expect.stringMatching(uuidV7),
          createTime: updated.updateTime,
          fields: [
            { field: "description", fromJson: "null", toJson: '"D"' },
            { field: "designated_version", fromJson: "2", toJson: "1" },
          ],
        },
        { revision: 2, action: PresetChangeAction.VERSION_CREATED },
        {
          revision: 1,
          action: PresetChangeAction.PRESET_CREATED,
          fields: [{ field: "designated_version", fromJson: "null", toJson: "1" }],
        },
      ]);
    });
  });

  describe("every method", () => {
    const slug = `${prefix}-everywhere`;
    const reads: Record<string, (accessToken?: string, name?: string) => Promise<unknown>> = {
      GetPreset: (accessToken, name = slug) => call(getPreset, { slug: name }, accessToken),
      GetVersion: (accessToken, name = slug) => call(getVersion, { slug: name, version: 1 }, accessToken),
      ListVersions: (accessToken, name = slug) => call(listVersions, { slug: name }, accessToken),
      DiffVersions: (accessToken, name = slug) =>
        call(diffVersions, { slug: name, fromVersion: 1, toVersion: 1 }, accessToken),
      ListChanges: (accessToken, name = slug) => call(listChanges, { slug: name }, accessToken),
    };
    const updates: typeof reads = {
      UpdatePreset: (accessToken, name = slug) =>
        call(updatePreset, { slug: name, updateMask: { paths: ["name"] }, name: "x" }, accessToken),
    };
    const ofOnePreset = Object.entries({ ...reads, ...updates });

    beforeAll(async () => {
      await create(slug);
    });

    it.each(ofOnePreset)("returns NOT_FOUND for another workspace's preset: %s", async (_name, run) => {
      const other = await stack.tenants.createOrganization();
      expect(await failureOf(run(await tokenFor(other.apiKey)))).toMatchObject({
        code: "NOT_FOUND",
        reason: "PRESET_NOT_FOUND",
      });
    });

    it.each(ofOnePreset)("rejects an invalid slug: %s", async (_name, run) => {
      expect(await failureOf(run(token, "a/b"))).toMatchObject({
        code: "INVALID_ARGUMENT",
        violations: [{ field: "slug" }],
      });
    });

    it.each(Object.entries(reads))("requires presets:read to read: %s", async (_name, run) => {
      expect(await failureOf(run(tokenWith(["presets:write"])))).toMatchObject({
        code: "PERMISSION_DENIED",
        reason: "PERMISSION_MISSING",
      });
      await run(tokenWith(["presets:read"]));
    });

    it.each(Object.entries(reads))("accepts inference permission only to use a preset: %s", async (name, run) => {
      const answer = run(tokenWith(["inference"]));
      if (["GetPreset", "GetVersion"].includes(name)) await answer;
      else expect(await failureOf(answer)).toMatchObject({ code: "PERMISSION_DENIED" });
    });

    it("requires presets:read to read: ListPresets", async () => {
      expect(await failureOf(call(listPresets, {}, tokenWith(["presets:write"])))).toMatchObject({
        code: "PERMISSION_DENIED",
      });
    });

    it("suggests a similar slug to callers that may read or use presets", async () => {
      const find = (permission: Permission) => call(findSimilarSlug, { slug: `${slug}x` }, tokenWith([permission]));
      expect(await find("presets:read")).toMatchObject({ slug });
      expect(await find("inference")).toMatchObject({ slug });
      expect(await failureOf(find("presets:write"))).toMatchObject({
        code: "PERMISSION_DENIED",
        message: expect.stringContaining("presets:read or inference"),
      });
    });

    it("suggests no slug of another workspace", async () => {
      const other = await stack.tenants.createOrganization();
      expect(await call(findSimilarSlug, { slug: `${slug}x` }, await tokenFor(other.apiKey))).toMatchObject({
        slug: "",
      });
    });

    it("requires presets:write to write, before anything else is checked", async () => {
      const readOnly = tokenWith(["presets:read", "inference"]);
      expect(await failureOf(call(updatePreset, { slug: "" }, readOnly))).toMatchObject({ code: "PERMISSION_DENIED" });
      expect(await failureOf(call(createVersion, { slug: "" }, readOnly))).toMatchObject({ code: "PERMISSION_DENIED" });
    });

    it.each(ofOnePreset)("rejects garbage in place of a token: %s", async (_name, run) => {
      expect(await failureOf(run("garbage"))).toMatchObject({ code: "UNAUTHENTICATED", reason: "TOKEN_INVALID" });
    });
  });

  it("never moves an update time back", async () => {
    const slug = freshName(`${prefix}-times`);
    const answers = [await create(slug), await update(slug, { name: "a" }), await create(slug)];
    const times = answers.map(({ updateTime }) =>
      timestampDate(updateTime as NonNullable<typeof updateTime>).getTime(),
    );
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });
});

describe("Connect GET", () => {
  const path = (method: string, message: object) =>
    `http://127.0.0.1:${stack.preset.config.httpPort}/setpoint.preset.v1.PresetService/${method}?connect=v1&encoding=json&message=${encodeURIComponent(JSON.stringify(message))}`;
  const get = (url: string) => fetch(url, { headers: { authorization: `Bearer ${token}` } });

  it("is a plain HTTP GET with a JSON answer, for reads", async () => {
    const slug = freshName("curl");
    await stack.create(slug);
    const response = await get(path("GetPreset", { slug }));
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ preset: { slug, status: "PRESET_STATUS_ACTIVE" } });
  });

  it.each(["CreateVersion", "UpdatePreset"])("is rejected for a method that writes: %s", async (method) => {
    const slug = freshName("curl");
    await stack.create(slug);
    const response = await get(path(method, { slug, configJson: "{}" }));
    expect(response.status).toBe(405);
    expect((await stack.request("GET", `/presets/${slug}/versions`, { key: stack.apiKey })).json.total_count).toBe(1);
  });
});

describe("a client with only the proto files", () => {
  it("updates with a field mask and lists the change", async () => {
    const slug = freshName("stock");
    await stack.create(slug);
    const client = stockClient("setpoint.preset.v1.PresetService", stack.preset.config.grpcPort);
    const update = { slug, updateMask: { paths: ["status", "description"] }, status: 2, description: "D" };
    const updated = await callStock<{ preset: object }>(client, "UpdatePreset", update, { token });
    expect(updated.preset).toMatchObject({ status: "PRESET_STATUS_DISABLED", description: "D" });
    const { changes } = await callStock<{ changes: object[] }>(client, "ListChanges", { slug }, { token });
    expect(changes[0]).toMatchObject({ revision: 2, action: "PRESET_CHANGE_ACTION_PRESET_UPDATED" });
    client.close();
  });
});
