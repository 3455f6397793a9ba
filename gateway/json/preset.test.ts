import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import {
  Dialect,
  PresetChangeAction,
  PresetChangeSchema,
  PresetSchema,
  PresetServingSchema,
  PresetStatus,
  PresetVersionSchema,
} from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import { DiffVersionsResponseSchema } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { changeJson, diffJson, listedPresetJson, presetJson, versionJson } from "./preset.ts";

const time = timestampFromDate(new Date("2026-01-02T03:04:05.006Z"));
const isoTime = "2026-01-02T03:04:05.006Z";

const version = create(PresetVersionSchema, {
  id: "v",
  presetId: "p",
  version: 2,
  configJson: '{"10":1.0,"2":{"__proto__":null},"model":"\\u00e9"}',
  creatorId: "user_1",
  createTime: time,
  updateTime: time,
});

const preset = create(PresetSchema, {
  id: "p",
  slug: "support",
  name: 'Quote " and line\nbreak',
  status: PresetStatus.ACTIVE,
  createTime: time,
  updateTime: time,
  creatorUserId: "user_1",
  workspaceId: "w",
  designatedVersionId: "v",
  designatedVersion: version,
  etag: "never shown in the body",
});

const listed = {
  id: "p",
  name: 'Quote " and line\nbreak',
  slug: "support",
  description: null,
  status: "active",
  status_updated_at: null,
  created_at: isoTime,
  updated_at: isoTime,
  creator_user_id: "user_1",
  workspace_id: "w",
  designated_version_id: "v",
};

describe("a preset as JSON", () => {
  it("has every field, with null for missing values", () => {
    expect(JSON.parse(presetJson(preset))).toEqual({
      ...listed,
      designated_version: JSON.parse(versionJson(version)),
    });
  });

  it("has no designated_version in lists", () => {
    expect(JSON.parse(listedPresetJson(preset))).toEqual(listed);
  });

  it.each([
    ["openai/gpt-4o", "openai/gpt-4o"],
    [undefined, null],
  ])("includes what it serves if known, with the model %s", (model, shown) => {
    const serving = create(PresetServingSchema, { version: 2, newestVersion: 3 });
    if (model !== undefined) serving.model = model;
    expect(JSON.parse(listedPresetJson(create(PresetSchema, { ...preset, serving })))).toEqual({
      ...listed,
      serving: { version: 2, newest_version: 3, model: shown },
    });
  });

  it.each([
    [PresetStatus.ACTIVE, "active"],
    [PresetStatus.DISABLED, "disabled"],
    [PresetStatus.ARCHIVED, "archived"],
  ])("names the status %d", (status, name) => {
    const changed = create(PresetSchema, { ...preset, status, statusUpdateTime: time, description: "" });
    expect(JSON.parse(presetJson(changed))).toMatchObject({
      status: name,
      status_updated_at: isoTime,
      description: "",
    });
  });
});

describe("a version as JSON", () => {
  it("has every field, with null for missing values", () => {
    expect(JSON.parse(versionJson(version))).toEqual({
      id: "v",
      preset_id: "p",
      version: 2,
      config: JSON.parse(version.configJson),
      system_prompt: null,
      dialect: null,
      creator_id: "user_1",
      created_at: isoTime,
      updated_at: isoTime,
    });
  });

  it.each([
    ["chat/completions", Dialect.CHAT_COMPLETIONS],
    ["messages", Dialect.MESSAGES],
    ["responses", Dialect.RESPONSES],
    [null, Dialect.UNSPECIFIED],
    [null, 99 as Dialect],
  ])("names its dialect %s", (name, dialect) => {
    expect(JSON.parse(versionJson({ ...version, dialect })).dialect).toBe(name);
  });

  it("contains the config byte for byte", () => {
    expect(versionJson(version)).toContain(`"config":${version.configJson}`);
  });
});

describe("a change as JSON", () => {
  it.each([
    [PresetChangeAction.PRESET_CREATED, "preset_created"],
    [PresetChangeAction.VERSION_CREATED, "version_created"],
    [PresetChangeAction.PRESET_UPDATED, "preset_updated"],
  ])("names the action %d and lists each field with from and to", (action, name) => {
    const change = create(PresetChangeSchema, {
      revision: 3,
      action,
      userId: "user_1",
      keyId: "k",
      createTime: time,
      fields: [
        { field: "description", fromJson: "null", toJson: '"a \\"b\\""' },
        { field: "designated_version", fromJson: "2", toJson: "1" },
      ],
    });
    expect(JSON.parse(changeJson(change))).toEqual({
      revision: 3,
      action: name,
      user_id: "user_1",
      key_id: "k",
      created_at: isoTime,
      changes: [
        { field: "description", from: null, to: 'a "b"' },
        { field: "designated_version", from: 2, to: 1 },
      ],
    });
  });
});

describe("a diff as JSON", () => {
  it("groups fields into added, removed and changed, with verbatim values", () => {
    const diff = create(DiffVersionsResponseSchema, {
      config: [
        { key: "top_p", toJson: "0.50" },
        { key: "seed", fromJson: "1" },
        { key: "stop", fromJson: '["a"]', toJson: '"a"' },
      ],
      systemPromptChanged: true,
    });
    expect(diffJson(1, 2, diff)).toBe(
      '{"from":1,"to":2,"config":{"added":{"top_p":0.50},"removed":{"seed":1},' +
        '"changed":{"stop":{"from":["a"],"to":"a"}}},"system_prompt_changed":true}',
    );
  });

  it("has every part even if nothing differs", () => {
    expect(JSON.parse(diffJson(2, 2, create(DiffVersionsResponseSchema)))).toEqual({
      from: 2,
      to: 2,
      config: { added: {}, removed: {}, changed: {} },
      system_prompt_changed: false,
    });
  });
});
