import { describe, expect, it } from "vitest";
import { DomainError } from "../../platform/domain/domain-error.ts";
import { addVersion } from "./add-version.ts";
import type { NewVersion } from "./new-version.ts";
import type { Preset, ServedPreset } from "./preset.ts";

const createdAt = new Date("2026-01-01T00:00:00.000Z");
const updatedAt = new Date("2026-01-02T00:00:00.000Z");
const now = new Date("2026-01-03T00:00:00.000Z");

const creation: NewVersion = {
  workspaceId: "019a0000-0000-7000-8000-000000000002",
  slug: "support",
  configJson: '{"model":"m"}',
  systemPrompt: "Be brief.",
  dialect: "messages",
  actor: { userId: "user_000000000000000000000002", keyId: "019a0000-0000-7000-8000-000000000009" },
  requestId: "request",
  isNamedByCaller: false,
  requestDigest: Buffer.alloc(32),
  etags: [],
};

/** Rolled back to version 2 of 4. */
const before: Preset = {
  id: "019a0000-0000-7000-8000-000000000001",
  workspaceId: creation.workspaceId,
  slug: "support",
  name: "Support",
  description: "Answers mail.",
  status: "active",
  statusUpdatedAt: undefined,
  creatorUserId: "user_000000000000000000000001",
  createdAt,
  updatedAt,
  latestVersion: 4,
  designatedNumber: 2,
  designatedVersionId: "019a0000-0000-7000-8000-000000000003",
  revision: 7,
};

function added(preset: Preset | undefined, at = now): ServedPreset {
  const outcome = addVersion(preset, creation, at);
  if (outcome instanceof DomainError) throw outcome;
  return outcome;
}

describe("addVersion", () => {
  it.each([
    ["no etag is expected", [], true, true],
    ["its own etag is expected", ["000000000001-7"], true, false],
    ["one of several is expected", ["x", "000000000001-7"], true, false],
    ["any etag is expected", ["*"], true, false],
    ["an older etag is expected", ["000000000001-6"], false, false],
    ["another preset's etag is expected", ["000000000002-7"], false, false],
    ["an impossible etag is expected", [""], false, false],
    ["no preset is expected", ["-"], false, true],
    ["no preset, or its own etag, is expected", ["-", "000000000001-7"], true, true],
  ])("checks the etag if %s", (_name, etags, isAdded, isMade) => {
    const reasonOf = (preset: Preset | undefined) => {
      const outcome = addVersion(preset, { ...creation, etags }, now);
      return outcome instanceof DomainError ? outcome.reason : undefined;
    };
    expect([reasonOf(before), reasonOf(undefined)]).toEqual([
      isAdded ? undefined : "ETAG_STALE",
      isMade ? undefined : "ETAG_STALE",
    ]);
  });

  it("creates an active preset named by its slug with version 1", () => {
    const preset = added(undefined);
    expect(preset).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      workspaceId: creation.workspaceId,
      slug: "support",
      name: "support",
      description: undefined,
      status: "active",
      statusUpdatedAt: undefined,
      creatorUserId: creation.actor.userId,
      createdAt: now,
      updatedAt: now,
      latestVersion: 1,
      designatedNumber: 1,
      designatedVersionId: preset.designatedVersion.id,
      revision: 1,
      designatedVersion: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        presetId: preset.id,
        version: 1,
        configJson: creation.configJson,
        systemPrompt: "Be brief.",
        dialect: "messages",
        creatorId: creation.actor.userId,
        createdAt: now,
      },
    });
  });

  it("numbers from the newest version, designates it and keeps the rest of the preset", () => {
    const preset = added(before);
    expect(preset).toEqual({
      ...before,
      updatedAt: now,
      latestVersion: 5,
      designatedNumber: 5,
      designatedVersionId: preset.designatedVersion.id,
      revision: 8,
      designatedVersion: expect.objectContaining({ presetId: before.id, version: 5, createdAt: now }),
    });
  });

  it("inherits nothing from the previous version", () => {
    const outcome = addVersion(added(undefined), { ...creation, configJson: "{}", systemPrompt: undefined }, now);
    expect(outcome).toMatchObject({ designatedVersion: { version: 2, configJson: "{}", systemPrompt: undefined } });
  });

  it("leaves a disabled preset disabled", () => {
    const preset = added({ ...before, status: "disabled", statusUpdatedAt: updatedAt });
    expect(preset).toMatchObject({ status: "disabled", statusUpdatedAt: updatedAt, latestVersion: 5 });
  });

  it("rejects an archived preset, and says how to restore it", () => {
    expect(addVersion({ ...before, status: "archived" }, creation, now)).toMatchObject({
      kind: "failed_precondition",
      reason: "PRESET_ARCHIVED",
      message: expect.stringContaining("PATCH /api/v1/presets/support"),
    });
  });

  it("never moves updated_at back", () => {
    expect(added(before, createdAt)).toMatchObject({ updatedAt, designatedVersion: { createdAt: updatedAt } });
  });
});
