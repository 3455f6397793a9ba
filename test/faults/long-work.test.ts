import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import type { FastifyReply } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatCompletions } from "../../gateway/dialects/chat-completions.ts";
import { messages } from "../../gateway/dialects/messages.ts";
import { readLongBody } from "../../gateway/dialects/read-body.ts";
import { bodyText } from "../../gateway/json/body.ts";
import { smallBodyBytesMax } from "../../gateway/json/body-reader.ts";
import { etagsOfIfMatch } from "../../gateway/json/etag.ts";
import { pageJson } from "../../gateway/json/page.ts";
import { changeJson, listedPresetJson, sendPreset, versionJson } from "../../gateway/json/preset.ts";
import { presetUpdateFrom } from "../../gateway/json/preset-body.ts";
import { parseQuery } from "../../gateway/json/query.ts";
import { PresetSchema } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import {
  ListChangesResponseSchema,
  ListPresetsResponseSchema,
  ListVersionsResponseSchema,
  PresetService,
} from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import type { Principal } from "../../services/platform/auth/principal.ts";
import { fieldsMax } from "../../services/platform/rpc/field-count.ts";
import { requestBytesMax, smallRequestBytesMax } from "../../services/platform/rpc/message-sizes.ts";
import { diffVersions } from "../../services/preset/domain/diff-versions.ts";
import { newVersion } from "../../services/preset/domain/new-version.ts";
import type { PresetVersion } from "../../services/preset/domain/preset.ts";
import { checkUpdate } from "../../services/preset/domain/update-preset.ts";
import { hostileTexts } from "../support/hostile-json.ts";
import { blockMsMax, longestBlock } from "../support/longest-block.ts";
import { openStubService, type StubService } from "../support/stub-service.ts";

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
    etags: [],
  });
}

describe.each([
  ["that is not kept", "messages"],
  ["that is kept", "route"],
])("a body of 10 MiB, in a field %s", (_name, field) => {
  it.each(Object.entries(hostileTexts(bodyBytes, field)))(
    "does not block the event loop with %s",
    async (_case, text) => {
      const bytes = Buffer.from(text);
      expect(await longestBlock(() => readLongBody(chatCompletions, bodyText(bytes, undefined)))).toBeLessThan(
        blockMsMax,
      );
    },
  );
});

describe("a body of 10 MiB", () => {
  const system = (content: string) => `{"messages":[{"role":"system","content":${content}}]}`;
  const long = "~/".repeat(5 * mebibyte - 100);
  it.each([
    ["a string that is too long", `{"messages":[],"session_id":"${long}"}`],
    ["a key that is too long", `{"messages":[],"metadata":{"${long}":1}}`],
    ["a long key with a bad number", `{"messages":[],"logit_bias":{"${long}":"x"}}`],
    [
      "invalid metadata",
      `{"messages":[],"metadata":{${Array.from({ length: 37_000 }, (_, n) => `"k${n}":0`).join()}}}`,
    ],
    ["invalid roles", `{"messages":[${Array(24_000).fill('{"role":1}').join()}]}`],
    ["preset references", `{"messages":[],"models":[${Array(70_000).fill('"@preset/x"').join()}]}`],
    ["a long model", `{"messages":[],"model":"@preset/${long}"}`],
    ["many system messages", `{"messages":[${Array(14_000).fill('{"role":"system","content":"a"}').join()}]}`],
    ["many text parts", system(`[${Array(24_000).fill('{"text":"a"}').join()}]`)],
    ["many non-text parts", system(`[${Array(70_000).fill("0").join()}]`)],
    ["a long system prompt", system(`"${"é".repeat(5 * mebibyte - 100)}"`)],
  ])("does not block the event loop with %s", async (_case, text) => {
    const bytes = Buffer.from(text);
    for (const dialect of [chatCompletions, messages]) {
      expect(await longestBlock(() => readLongBody(dialect, bodyText(bytes, undefined)))).toBeLessThan(blockMsMax);
    }
  });
});

describe("a config of 1 MiB", () => {
  it.each(Object.entries(hostileTexts(mebibyte, "route")))(
    "does not block the event loop with %s",
    async (_case, text) => {
      expect(await longestBlock(() => createVersion(text))).toBeLessThan(blockMsMax);
    },
  );

  const configs = Object.entries(hostileTexts(mebibyte, "route")).filter(([, text]) => isAccepted(text));
  it.each(configs)("does not block the event loop when versions with %s are compared", async (_case, configJson) => {
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
  it.each(Object.entries(hostileTexts(smallBodyBytesMax, "name")))(
    "does not block the event loop with %s",
    async (_case, text) => {
      expect(await longestBlock(() => presetUpdateFrom(text))).toBeLessThan(blockMsMax);
    },
  );

  it("does not block the event loop with a name of megabytes", async () => {
    const update = {
      slug: "s".repeat(mebibyte),
      name: "😀".repeat(4 * mebibyte),
      etags: [],
      requestId: "x".repeat(mebibyte),
    };
    expect(await longestBlock(() => checkUpdate(update))).toBeLessThan(blockMsMax);
  });
});

describe("an RPC", () => {
  const { createVersion, batchCreateVersions, batchGetPresets, getPreset, listPresets, updatePreset } =
    PresetService.method;
  let service: StubService;
  beforeAll(async () => {
    service = await openStubService();
  });
  afterAll(() => service.close());

  const protobufTypes = ["application/proto", "application/grpc-web+proto", "application/grpc"];
  const jsonTypes = ["application/json", "application/grpc-web+json"];

  /** In an envelope, unless it is a unary Connect call. */
  function bodyOf(type: string, message: Buffer): Buffer {
    if (!type.includes("grpc")) return message;
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    return Buffer.concat([head, message]);
  }

  async function post({ parent, name }: DescMethod, type: string, body: Buffer): Promise<number> {
    const outgoing = request(`http://127.0.0.1:${service.httpPort}/${parent.typeName}/${name}`, {
      method: "POST",
      headers: { "content-type": type, authorization: `Bearer ${service.token}` },
      agent: false,
    });
    // A caller that is answered early may find the connection closed.
    outgoing.on("error", () => {});
    outgoing.end(body);
    const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
    answer.resume();
    await once(answer, "end");
    return answer.statusCode ?? 0;
  }

  async function callGrpc(method: DescMethod, bytes: Buffer): Promise<void> {
    const client = new Client(`127.0.0.1:${service.grpcPort}`, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${service.token}`);
    const asIs = (message: Buffer) => message;
    const path = `/${method.parent.typeName}/${method.name}`;
    await new Promise((resolve) => client.makeUnaryRequest(path, asIs, asIs, bytes, metadata, resolve));
    client.close();
  }

  const fields: [string, DescMethod, number[]][] = [
    ["statuses", listPresets, [0x18, 1]],
    ["field names", updatePreset, [0x12, 2, 0x0a, 0]],
    ["etags", updatePreset, [0x3a, 0]],
    ["slugs", batchGetPresets, [0x0a, 0]],
    ["creations", batchCreateVersions, [0x12, 0]],
    ["creations of empty requests", batchCreateVersions, [0x12, 2, 0x12, 0]],
    ["unknown fields", createVersion, [0x78, 1]],
    ["unknown fields in a small request", getPreset, [0x78, 1]],
  ];
  const protobufMessages = fields.flatMap(([name, method, field]): [string, DescMethod, Buffer][] =>
    [requestBytesMax, smallRequestBytesMax].map((bytes) => [
      `${bytes} bytes of ${name}`,
      method,
      Buffer.alloc(bytes, Buffer.from(field)),
    ]),
  );
  const texts = Array(15).fill({ slug: "s", configJson: "é".repeat(mebibyte / 2) });
  protobufMessages.push([
    "text",
    batchCreateVersions,
    Buffer.from(toBinary(batchCreateVersions.input, create(batchCreateVersions.input, { requests: texts }))),
  ]);
  const unknownFields = Buffer.alloc(requestBytesMax - 16, Buffer.of(0x78, 1));
  const group = Buffer.concat([Buffer.of(0xfb, 1), unknownFields, Buffer.of(0xfc, 1)]);
  protobufMessages.push(["a group of fields", createVersion, group]);
  // Says of `request_digest` that it is a number, of a field behind it that it is all the rest, and is five bytes in between.
  const hidden = Buffer.concat([Buffer.of(0x28, 5, 0x7a, 0xf0, 0xff, 0xff, 0x07), unknownFields]);
  protobufMessages.push(["fields hidden by a tag of another type", createVersion, hidden]);

  it.each(protobufMessages)("over gRPC does not block the event loop with %s", async (_case, method, message) => {
    expect(await longestBlock(() => callGrpc(method, message))).toBeLessThan(blockMsMax);
  });

  describe.each(protobufTypes)("as %s", (type) => {
    it.each(protobufMessages)("does not block the event loop with %s", async (_case, method, message) => {
      const body = bodyOf(type, message);
      expect(await longestBlock(() => post(method, type, body))).toBeLessThan(blockMsMax);
    });
  });

  it.each(["application/grpc-web+proto", "application/grpc-web+json"])(
    "as %s does not block the event loop with millions of messages",
    async (type) => {
      const body = Buffer.alloc(requestBytesMax - 1);
      expect(await longestBlock(() => post(createVersion, type, body))).toBeLessThan(blockMsMax);
    },
  );

  const jsonBytes = 4.25 * mebibyte;
  const jsonMessages: [string, DescMethod, string][] = [
    ...Object.entries(hostileTexts(jsonBytes, "systemPrompt", fieldsMax)).map(
      ([name, text]): [string, DescMethod, string] => [name, createVersion, text],
    ),
    ["a million creations", batchCreateVersions, `{"requests":[${"{},".repeat(999_999)}{}]}`],
    ["a million statuses", listPresets, `{"statuses":[${"1,".repeat(999_999)}1]}`],
    ["the maximum number of creations", batchCreateVersions, `{"creations":[${'{"request":{}},'.repeat(3_300)}{}]}`],
    ["deep creations", batchCreateVersions, '{"requests":['.repeat(mebibyte / 4)],
    ["a digest of megabytes", createVersion, `{"requestDigest":"${"AAA_".repeat(jsonBytes / 4 - 10)}"}`],
    ["a mask of megabytes", updatePreset, `{"updateMask":"${",".repeat(jsonBytes - 20)}"}`],
    ["the longest mask", updatePreset, `{"updateMask":"${",".repeat(smallRequestBytesMax - 20)}"}`],
    ["a status of megabytes", listPresets, `{"statuses":["${"x".repeat(jsonBytes - 20)}"]}`],
    ["more than allowed", createVersion, `{"systemPrompt":"${"x".repeat(requestBytesMax)}"}`],
  ];
  describe.each(jsonTypes)("as %s", (type) => {
    it.each(jsonMessages)("does not block the event loop with %s", async (_case, method, text) => {
      const body = bodyOf(type, Buffer.from(text));
      expect(await longestBlock(() => post(method, type, body))).toBeLessThan(blockMsMax);
    });
  });

  it.each([
    ["statuses", `encoding=proto&base64=1&message=${Buffer.alloc(11_000, Buffer.of(0x18, 1)).toString("base64url")}`],
    ["statuses in JSON", `encoding=json&message={"statuses":[${"1,".repeat(7_000)}1]}`],
    ["lists", `encoding=json&message=${"[".repeat(15_000)}`],
    ["parameters", "a&".repeat(7_500)],
    ["escapes", "%25".repeat(5_000)],
  ])("in a URL does not block the event loop with %s", async (_case, query) => {
    const url = `http://127.0.0.1:${service.httpPort}/${listPresets.parent.typeName}/ListPresets?${query}`;
    const get = () => fetch(url, { headers: { authorization: `Bearer ${service.token}` } });
    expect([200, 400, 415]).toContain((await get()).status);
    expect(await longestBlock(get)).toBeLessThan(blockMsMax);
  });
});

describe("a preset service answer", () => {
  const time = timestampFromMs(1_700_000_000_000);
  const ids = { id: principal.keyId, presetId: principal.workspaceId as string, creatorId: principal.userId };
  const quotes = (bytes: number) => '"'.repeat(bytes);
  const version = {
    ...ids,
    version: 1,
    systemPrompt: quotes(mebibyte),
    configJson: `{"stop":"${"x".repeat(mebibyte)}"}`,
  };
  const preset = { slug: "s", name: "😀".repeat(255), description: quotes(2_000), createTime: time, updateTime: time };
  const bytesOf = <Schema extends DescMessage>(schema: Schema, message: MessageInitShape<Schema>) =>
    toBinary(schema, create(schema, message));

  it("does not block the event loop as a page of presets", async () => {
    const bytes = bytesOf(ListPresetsResponseSchema, { presets: Array(100).fill(preset), totalCount: 100 });
    const write = () => pageJson(fromBinary(ListPresetsResponseSchema, bytes).presets.map(listedPresetJson), 100);
    expect(await longestBlock(write)).toBeLessThan(blockMsMax);
  });

  it("does not block the event loop as a page of changes", async () => {
    const json = JSON.stringify(quotes(2_000));
    const change = {
      revision: 1,
      createTime: time,
      fields: Array(4).fill({ field: "f", fromJson: json, toJson: json }),
    };
    const bytes = bytesOf(ListChangesResponseSchema, { changes: Array(100).fill(change), totalCount: 100 });
    const write = () => pageJson(fromBinary(ListChangesResponseSchema, bytes).changes.map(changeJson), 100);
    expect(await longestBlock(write)).toBeLessThan(blockMsMax);
  });

  it("does not block the event loop as a page of versions", async () => {
    const bytes = bytesOf(ListVersionsResponseSchema, { versions: [version, version], totalCount: 2 });
    const write = () => pageJson(fromBinary(ListVersionsResponseSchema, bytes).versions.map(versionJson), 2);
    expect(await longestBlock(write)).toBeLessThan(blockMsMax);
  });

  it("does not block the event loop when hundreds of callers share one large preset", async () => {
    const bytes = bytesOf(PresetSchema, { ...preset, designatedVersion: version });
    const reply = { header: () => reply, type: () => reply, send: () => reply } as unknown as FastifyReply;
    const answerAll = () => {
      const found = fromBinary(PresetSchema, bytes);
      for (let n = 0; n < 400; n++) sendPreset(reply, found);
    };
    expect(await longestBlock(answerAll)).toBeLessThan(blockMsMax);
  });
});

describe("a header or query of 16 KiB", () => {
  const bytes = 16_384;
  it.each(['"', '"a",', "a", ',"', 'W/"', " ", '"a" ', "*,"])("does not block the event loop with %j", async (part) => {
    const text = part.repeat(bytes / part.length);
    expect(await longestBlock(() => etagsOfIfMatch(text))).toBeLessThan(blockMsMax);
    expect(await longestBlock(() => bodyText(Buffer.from("{}"), text))).toBeLessThan(blockMsMax);
  });

  it.each(["a&", "a=&", "%61&", "%", "=&", "+"])("does not block the event loop with the query %s", async (part) => {
    expect(await longestBlock(() => parseQuery(part.repeat(bytes / part.length)))).toBeLessThan(blockMsMax);
  });
});
