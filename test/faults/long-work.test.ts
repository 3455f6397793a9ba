import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { chatCompletions } from "../../gateway/dialects/chat-completions.ts";
import { messages } from "../../gateway/dialects/messages.ts";
import { readLongBody } from "../../gateway/dialects/read-body.ts";
import { bodyText } from "../../gateway/json/body.ts";
import { smallBodyBytesMax } from "../../gateway/json/body-reader.ts";
import { etagsOfIfMatch } from "../../gateway/json/etag.ts";
import { parseQuery } from "../../gateway/json/query.ts";
import { updateFrom } from "../../gateway/json/update.ts";
import { PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import type { Principal } from "../../services/platform/auth/principal.ts";
import { grpcDefinitionOf } from "../../services/platform/rpc/grpc-definition.ts";
import { diffVersions } from "../../services/preset/domain/diff-versions.ts";
import { newVersion } from "../../services/preset/domain/new-version.ts";
import type { PresetVersion } from "../../services/preset/domain/preset.ts";
import { checkUpdate } from "../../services/preset/domain/update-preset.ts";
import { hostileTexts } from "../support/hostile-json.ts";
import { longestBlock } from "../support/longest-block.ts";

/** Nothing takes more than 50 ms on a machine that is quiet; three times that leaves room for one that is not. */
const blockMsMax = 150;

const mebibyte = 1_048_576;
const bodyBytes = 10 * mebibyte;

const principal: Principal = {
  keyId: "019a0000-0000-7000-8000-000000000001",
  keyKind: "api",
  userId: "user_000000000000000000000001",
  organizationId: "019a0000-0000-7000-8000-000000000002",
  workspaceId: "019a0000-0000-7000-8000-000000000003",
  permissions: ["presets:write"],
};

function createVersion(configJson: string): void {
  newVersion(principal, {
    slug: "s",
    configJson,
    systemPrompt: "x".repeat(mebibyte),
    requestId: "",
    requestDigest: new Uint8Array(),
  });
}

describe.each([
  ["that is not kept", "messages"],
  ["that is kept", "route"],
])("a body of 10 MiB, in a field %s", (_name, field) => {
  it.each(Object.entries(hostileTexts(bodyBytes, field)))("does not block with %s", async (_case, text) => {
    const bytes = Buffer.from(text);
    expect(await longestBlock(() => readLongBody(chatCompletions, bodyText(bytes, undefined)))).toBeLessThan(
      blockMsMax,
    );
  });
});

describe("a body of 10 MiB", () => {
  const system = (content: string) => `{"messages":[{"role":"system","content":${content}}]}`;
  const long = "~/".repeat(5 * mebibyte - 100);
  it.each([
    ["a text that is too long", `{"messages":[],"session_id":"${long}"}`],
    ["a key that is too long", `{"messages":[],"metadata":{"${long}":1}}`],
    ["a long key of a bad number", `{"messages":[],"logit_bias":{"${long}":"x"}}`],
    ["bad metadata", `{"messages":[],"metadata":{${Array.from({ length: 37_000 }, (_, n) => `"k${n}":0`).join()}}}`],
    ["bad roles", `{"messages":[${Array(24_000).fill('{"role":1}').join()}]}`],
    ["preset references", `{"messages":[],"models":[${Array(70_000).fill('"@preset/x"').join()}]}`],
    ["a long model", `{"messages":[],"model":"@preset/${long}"}`],
    ["many system messages", `{"messages":[${Array(14_000).fill('{"role":"system","content":"a"}').join()}]}`],
    ["many parts of text", system(`[${Array(24_000).fill('{"text":"a"}').join()}]`)],
    ["many parts that are not text", system(`[${Array(70_000).fill("0").join()}]`)],
    ["a long system prompt", system(`"${"é".repeat(5 * mebibyte - 100)}"`)],
  ])("does not block with %s", async (_case, text) => {
    const bytes = Buffer.from(text);
    for (const dialect of [chatCompletions, messages]) {
      expect(await longestBlock(() => readLongBody(dialect, bodyText(bytes, undefined)))).toBeLessThan(blockMsMax);
    }
  });
});

describe("a config of 1 MiB", () => {
  it.each(Object.entries(hostileTexts(mebibyte, "route")))("does not block with %s", async (_case, text) => {
    expect(await longestBlock(() => createVersion(text))).toBeLessThan(blockMsMax);
  });

  const configs = Object.entries(hostileTexts(mebibyte, "route")).filter(([, text]) => isAccepted(text));
  it.each(configs)("does not block where versions with %s are compared", async (_case, configJson) => {
    const version = (text: string) => ({ configJson: text }) as PresetVersion;
    const other = configJson.replace(/(?<=.)([a-z0-9])(?=[^a-z0-9]*$)/, "1");
    expect(await longestBlock(() => diffVersions(version(configJson), version(other)))).toBeLessThan(blockMsMax);
  });
});

function isAccepted(configJson: string): boolean {
  try {
    createVersion(configJson);
    return true;
  } catch {
    return false;
  }
}

describe("an update", () => {
  it.each(Object.entries(hostileTexts(smallBodyBytesMax, "name")))("does not block with %s", async (_case, text) => {
    expect(await longestBlock(() => updateFrom(text))).toBeLessThan(blockMsMax);
  });

  it("does not block with a name of megabytes", async () => {
    const update = {
      slug: "s".repeat(mebibyte),
      name: "😀".repeat(4 * mebibyte),
      etags: [],
      requestId: "x".repeat(mebibyte),
    };
    expect(await longestBlock(() => checkUpdate(update))).toBeLessThan(blockMsMax);
  });
});

describe("an RPC message of 16 MiB", () => {
  it.each([
    ["statuses", "listPresets", [0x18, 1]],
    ["names of fields", "updatePreset", [0x12, 2, 0x0a, 0]],
    ["etags", "updatePreset", [0x3a, 0]],
    ["slugs", "batchGetPresets", [0x0a, 0]],
    ["creations", "batchCreateVersions", [0x12, 0]],
    ["creations of empty requests", "batchCreateVersions", [0x12, 2, 0x12, 0]],
    ["fields that nobody knows", "getPreset", [0x78, 1]],
  ] as const)("does not block with %s", async (_case, name, field) => {
    const { requestDeserialize } = grpcDefinitionOf(PresetService.method[name]);
    const bytes = Buffer.alloc(16 * mebibyte, Buffer.from(field));
    expect(await longestBlock(() => requestDeserialize(bytes))).toBeLessThan(blockMsMax);
  });

  it("does not block where it is full of text", async () => {
    const { input } = PresetService.method.batchCreateVersions;
    const request = { slug: "s", configJson: "é".repeat(mebibyte / 2) };
    const bytes = toBinary(input, create(input, { requests: Array(15).fill(request) }));
    expect(await longestBlock(() => fromBinary(input, bytes))).toBeLessThan(blockMsMax);
  });
});

describe("a header or query of 16 KiB", () => {
  const bytes = 16_384;
  it.each(['"', '"a",', "a", ',"', 'W/"', " ", '"a" ', "*,"])("does not block with %j", async (part) => {
    const text = part.repeat(bytes / part.length);
    expect(await longestBlock(() => etagsOfIfMatch(text))).toBeLessThan(blockMsMax);
    expect(await longestBlock(() => bodyText(Buffer.from("{}"), text))).toBeLessThan(blockMsMax);
  });

  it.each(["a&", "a=&", "%61&", "%", "=&", "+"])("does not block with the query %s", async (part) => {
    expect(await longestBlock(() => parseQuery(part.repeat(bytes / part.length)))).toBeLessThan(blockMsMax);
  });
});
