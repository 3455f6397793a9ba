import { describe, expect, it } from "vitest";
import { creationChange, type FieldChange, updateChange } from "./change.ts";
import type { Preset } from "./preset.ts";

const actor = { userId: "user_000000000000000000000001", keyId: "019a0000-0000-7000-8000-000000000009" };
const first: Preset = {
  id: "019a0000-0000-7000-8000-000000000001",
  workspaceId: "019a0000-0000-7000-8000-000000000002",
  slug: "support",
  name: "support",
  description: undefined,
  status: "active",
  statusUpdatedAt: undefined,
  creatorUserId: actor.userId,
  createdAt: new Date(1_000),
  updatedAt: new Date(1_000),
  latestVersion: 1,
  designatedNumber: 1,
  designatedVersionId: "019a0000-0000-7000-8000-000000000003",
  revision: 1,
};

describe("creationChange", () => {
  it("records that a new preset serves version 1, from null", () => {
    expect(creationChange(undefined, first, actor)).toEqual({
      revision: 1,
      action: "preset_created",
      actor,
      fields: [{ field: "designated_version", from: null, to: 1 }],
      createdAt: first.createdAt,
    });
  });

  it("records which version a new one replaces, even after a rollback", () => {
    const before = { ...first, latestVersion: 4, designatedNumber: 2, revision: 6 };
    const after = { ...before, latestVersion: 5, designatedNumber: 5, revision: 7, updatedAt: new Date(2_000) };
    expect(creationChange(before, after, actor)).toEqual({
      revision: 7,
      action: "version_created",
      actor,
      fields: [{ field: "designated_version", from: 2, to: 5 }],
      createdAt: after.updatedAt,
    });
  });
});

describe("updateChange", () => {
  it("records the changed fields with the revision and time of the preset", () => {
    const after = { ...first, name: "Mail", revision: 2, updatedAt: new Date(2_000) };
    const fields: FieldChange[] = [{ field: "name", from: "support", to: "Mail" }];
    expect(updateChange(after, fields, actor)).toEqual({
      revision: 2,
      action: "preset_updated",
      actor,
      fields,
      createdAt: after.updatedAt,
    });
  });
});
