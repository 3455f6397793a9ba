import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { DomainError } from "../../platform/domain/domain-error.ts";
import type { FieldChange } from "./change.ts";
import { etagOf, type Preset, type PresetStatus } from "./preset.ts";
import { applyUpdate, checkUpdate, digestOf, type PresetUpdate } from "./update-preset.ts";

const createdAt = new Date("2026-01-01T00:00:00.000Z");
const updatedAt = new Date("2026-01-02T00:00:00.000Z");
const now = new Date("2026-01-03T00:00:00.000Z");

const preset: Preset = {
  id: "019a0000-0000-7000-8000-000000000001",
  workspaceId: "019a0000-0000-7000-8000-000000000002",
  slug: "support",
  name: "Support",
  description: "Answers mail.",
  status: "active",
  statusUpdatedAt: undefined,
  creatorUserId: "user_000000000000000000000001",
  createdAt,
  updatedAt,
  latestVersion: 3,
  designatedNumber: 3,
  designatedVersionId: "019a0000-0000-7000-8000-000000000003",
  revision: 7,
};

const etag = etagOf(preset);
const staleEtag = etagOf({ ...preset, revision: 6 });

function update(fields: Partial<PresetUpdate>): PresetUpdate {
  return { slug: "support", etags: [], requestId: "", ...fields };
}

function failureOf(work: () => unknown): DomainError {
  try {
    work();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error("it did not fail");
}

describe("checkUpdate", () => {
  it.each<[string, Partial<PresetUpdate>]>([
    ["a name of 1 character", { name: "a" }],
    ["a name of 255 characters", { name: "a".repeat(255) }],
    ["a name of 255 characters of two UTF-16 units each", { name: "🙂".repeat(255) }],
    ["an empty description", { description: "" }],
    ["a description of 2,000 characters", { description: "🙂".repeat(2_000) }],
    ["no description", { description: null }],
    ["version 1", { designatedVersion: 1 }],
    ["a request id of 255 characters", { requestId: "x".repeat(255) }],
    ["100 etags", { etags: Array(100).fill(etag) }],
  ])("accepts %s", (_name, fields) => {
    expect(checkUpdate(update(fields))).toBeUndefined();
  });

  it.each<[string, Partial<PresetUpdate>, string, string]>([
    ["an empty name", { name: "" }, "name", "must have at least 1 character, not only spaces"],
    ["a blank name", { name: " \t\n\u3000" }, "name", "must have at least 1 character, not only spaces"],
    ["a name of 256 characters", { name: "🙂".repeat(256) }, "name", "must have at most 255 characters"],
    [
      "a description of 2,001 characters",
      { description: "a".repeat(2_001) },
      "description",
      "must have at most 2000 characters",
    ],
    ["version 0", { designatedVersion: 0 }, "designated_version", "must be at least 1"],
    ["version -1", { designatedVersion: -1 }, "designated_version", "must be at least 1"],
    ["101 etags", { etags: Array(101).fill(etag) }, "etags", "must have at most 100 elements"],
    [
      "a request id with a line break",
      { requestId: "a\n" },
      "request_id",
      "must be at most 255 printable ASCII characters",
    ],
    [
      "an invalid slug",
      { slug: "-a" },
      "slug",
      "must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ -, with a letter or digit first",
    ],
  ])("rejects %s", (_name, fields, path, message) => {
    expect(failureOf(() => checkUpdate(update(fields)))).toMatchObject({
      kind: "invalid_argument",
      violations: [{ path, message }],
    });
  });

  it("reports all violations at once", () => {
    const { violations } = failureOf(() =>
      checkUpdate(update({ slug: "", name: "", description: "a".repeat(2_001), designatedVersion: 0 })),
    );
    expect(violations.map(({ path }) => path)).toEqual(["slug", "name", "description", "designated_version"]);
  });
});

describe("applyUpdate", () => {
  it.each<[string, Partial<PresetUpdate>, Partial<Preset>, FieldChange]>([
    ["a rename", { name: "Mail" }, { name: "Mail" }, { field: "name", from: "Support", to: "Mail" }],
    [
      "a description",
      { description: "New." },
      { description: "New." },
      { field: "description", from: "Answers mail.", to: "New." },
    ],
    [
      "an empty description",
      { description: "" },
      { description: "" },
      { field: "description", from: "Answers mail.", to: "" },
    ],
    [
      "a removed description",
      { description: null },
      { description: undefined },
      { field: "description", from: "Answers mail.", to: null },
    ],
    ["a rollback", { designatedVersion: 1 }, { designatedNumber: 1 }, { field: "designated_version", from: 3, to: 1 }],
    [
      "a status, with its time",
      { status: "disabled" },
      { status: "disabled", statusUpdatedAt: now },
      { field: "status", from: "active", to: "disabled" },
    ],
  ])("applies %s and nothing else", (_name, fields, changed, change) => {
    expect(applyUpdate(preset, update(fields), now)).toEqual({
      preset: { ...preset, ...changed, revision: 8, updatedAt: now },
      fields: [change],
    });
  });

  it("applies all changes as one revision, in a fixed order", () => {
    const fields = { designatedVersion: 2, status: "archived", description: null, name: "Old" } as const;
    const after = applyUpdate(preset, update(fields), now);
    expect(after.preset.revision).toBe(8);
    expect(after.fields.map(({ field }) => field)).toEqual(["name", "description", "status", "designated_version"]);
  });

  it("returns the same preset if every field has its value already", () => {
    const same = { name: "Support", description: "Answers mail.", status: "active", designatedVersion: 3 } as const;
    const after = applyUpdate(preset, update(same), now);
    expect(after.preset).toBe(preset);
    expect(after.fields).toEqual([]);
  });

  it("keeps the time of the last status change through other changes", () => {
    const before = { ...preset, statusUpdatedAt: updatedAt };
    expect(applyUpdate(before, update({ name: "Mail" }), now).preset.statusUpdatedAt).toBe(updatedAt);
  });

  it("never moves updated_at back", () => {
    const { preset: after } = applyUpdate(preset, update({ status: "disabled" }), createdAt);
    expect(after).toMatchObject({ updatedAt, statusUpdatedAt: updatedAt, revision: 8 });
  });

  const allowed: Record<PresetStatus, readonly PresetStatus[]> = {
    active: ["active", "disabled", "archived"],
    disabled: ["active", "disabled", "archived"],
    archived: ["active", "archived"],
  };
  const statuses = Object.keys(allowed) as PresetStatus[];
  const cells = statuses.flatMap((from) => statuses.map((to) => [from, to, allowed[from].includes(to)] as const));
  it.each(cells)("allows a change from %s to %s: %s", (from, to, isAllowed) => {
    const work = () => applyUpdate({ ...preset, status: from }, update({ status: to }), now);
    if (isAllowed) expect(work().preset.status).toBe(to);
    else expect(failureOf(work)).toMatchObject({ kind: "failed_precondition", reason: "STATUS_TRANSITION" });
  });

  it("rejects a missing version", () => {
    expect(failureOf(() => applyUpdate(preset, update({ designatedVersion: 4 }), now))).toMatchObject({
      kind: "not_found",
      reason: "VERSION_NOT_FOUND",
    });
  });

  it("accepts any of several etags", () => {
    const { fields } = applyUpdate(preset, update({ name: "Mail", etags: [staleEtag, etag] }), now);
    expect(fields).toHaveLength(1);
  });

  const elsewhere = etagOf({ ...preset, id: "019a0000-0000-7000-8000-000000000009" });
  it.each([
    ["of an older revision", [staleEtag]],
    ["of another preset at the same revision", [elsewhere]],
    ["with a space at its end", [`${etag} `]],
    ["that is empty", [""]],
  ])("rejects an etag %s", (_name, etags) => {
    expect(failureOf(() => applyUpdate(preset, update({ name: "Mail", etags }), now))).toMatchObject({
      kind: "failed_precondition",
      reason: "ETAG_STALE",
    });
  });

  it("reports a stale etag even if nothing would change", () => {
    expect(failureOf(() => applyUpdate(preset, update({ name: "Support", etags: [staleEtag] }), now)).reason).toBe(
      "ETAG_STALE",
    );
  });
});

describe("digestOf", () => {
  const asked = update({ name: "New" });

  it("is the same for the same update, whatever its request id and etags", () => {
    expect(digestOf({ ...asked, requestId: "other", etags: ["a"] })).toEqual(digestOf(asked));
  });

  it.each([
    ["another name", { name: "Other" }],
    ["an additional field", { status: "active" }],
    ["a removed description", { description: null }],
    ["another preset", { slug: "other" }],
  ] as const)("differs for %s", (_name, fields) => {
    expect(digestOf({ ...asked, ...fields })).not.toEqual(digestOf(asked));
  });

  it("is the same in every release, because a retry may reach another one", () => {
    const all = update({ designatedVersion: 1, status: "active", description: null, name: "New" });
    const text = '{"slug":"support","name":"New","description":null,"status":"active","designatedVersion":1}';
    expect(digestOf(all)).toEqual(createHash("sha256").update(text).digest());
  });
});
