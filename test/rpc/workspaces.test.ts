import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { KeyService } from "../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import { WorkspaceService } from "../../proto/gen/setpoint/organization/v1/workspace_service_pb.ts";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import {
  type Administrator,
  makeWorkspace,
  openOrganizations,
  type TestOrganizations,
} from "../support/administration.ts";
import { failureOf } from "../support/failures.ts";
import { uuidV7 } from "../support/patterns.ts";
import type { Tenant } from "../support/tenants.ts";

const {
  listWorkspaces,
  createWorkspace,
  getWorkspace,
  updateWorkspace,
  deleteWorkspace,
  listWorkspaceMembers,
  addWorkspaceMembers,
  removeWorkspaceMembers,
} = WorkspaceService.method;
const { createKey, updateKey, deleteKey } = KeyService.method;
const notFound = { code: "NOT_FOUND", reason: "WORKSPACE_NOT_FOUND" };

let organizations: TestOrganizations;
let tenant: Tenant;
let admin: Administrator;

beforeAll(async () => {
  organizations = await openOrganizations();
});

afterAll(() => organizations.close());

beforeEach(async () => {
  ({ tenant, admin } = await organizations.administer());
});

const userIdsOf = async (workspace: string) =>
  (await admin(listWorkspaceMembers, { workspace })).members.map(({ userId }) => userId);

describe("CreateWorkspace", () => {
  it("creates the requested workspace with its creator as a member", async () => {
    const request = {
      name: "Staging 🧪",
      slug: "staging-2",
      description: "For trying things",
      defaultTextModel: "vendor/model",
      defaultImageModel: "vendor/image",
      defaultProviderSort: "price",
    };
    const { workspace } = await admin(createWorkspace, request);
    expect(workspace).toMatchObject({ ...request, id: expect.stringMatching(uuidV7), isDefault: false });
    expect(workspace).toMatchObject({ creatorUserId: tenant.userId });
    expect(workspace?.updateTime).toBeUndefined();
    expect((await admin(getWorkspace, { workspace: "staging-2" })).workspace).toEqual(workspace);
    expect(await userIdsOf("staging-2")).toEqual([tenant.userId]);
  });

  it("leaves fields unset that are not given", async () => {
    const { description, defaultTextModel, defaultImageModel, defaultProviderSort } = await makeWorkspace(
      admin,
      "plain",
    );
    expect([description, defaultTextModel, defaultImageModel, defaultProviderSort]).toEqual(Array(4).fill(undefined));
  });

  it("reports all violations at once", async () => {
    const long = "x".repeat(256);
    const request = {
      name: "",
      slug: "",
      description: "x".repeat(501),
      defaultTextModel: long,
      defaultImageModel: long,
      defaultProviderSort: long,
    };
    const fields = [
      "name",
      "slug",
      "description",
      "default_text_model",
      "default_image_model",
      "default_provider_sort",
    ];
    expect(await failureOf(admin(createWorkspace, request))).toMatchObject({
      code: "INVALID_ARGUMENT",
      violations: fields.map((field) => ({ field })),
    });
  });

  it("accepts every field at its maximum length", async () => {
    const name = "😀".repeat(100);
    const description = "😀".repeat(500);
    expect(await makeWorkspace(admin, "a".repeat(50), { name, description })).toMatchObject({ name, description });
  });

  it("rejects a slug taken in the organization, but not in another", async () => {
    await makeWorkspace(admin, "taken");
    expect(await failureOf(makeWorkspace(admin, "taken"))).toMatchObject({
      code: "ALREADY_EXISTS",
      reason: "SLUG_TAKEN",
      violations: [{ field: "slug" }],
    });
    ({ admin } = await organizations.administer());
    await makeWorkspace(admin, "taken");
  });

  it("gives a slug to exactly one of many simultaneous requests", async () => {
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => makeWorkspace(admin, "raced")));
    const refused = results.filter((result) => result.status === "rejected").map(({ reason }) => reason);
    expect(refused).toEqual(Array(5).fill(expect.objectContaining({ reason: "SLUG_TAKEN" })));
  });
});

describe("ListWorkspaces", () => {
  it("pages through workspaces, oldest first, then by id", async () => {
    for (let n = 0; n < 6; n += 1) await makeWorkspace(admin, `workspace-${n}`);
    await organizations.pool.execute("UPDATE workspaces SET created_at = ? WHERE organization_id = ?", [
      new Date(0),
      idToBytes(tenant.organizationId),
    ]);
    const pages = await Promise.all([0, 3, 6, 9].map((offset) => admin(listWorkspaces, { offset, limit: 3 })));
    expect(pages.map(({ workspaces }) => workspaces.length)).toEqual([3, 3, 1, 0]);
    expect(pages.map(({ totalCount }) => totalCount)).toEqual([7, 7, 7, 7]);
    const all = pages.flatMap(({ workspaces }) => workspaces);
    expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).sort());
    expect(all.filter(({ isDefault }) => isDefault)).toMatchObject([{ id: tenant.workspaceId, slug: "default" }]);
  });

  it("omits deleted workspaces and those of other organizations", async () => {
    await makeWorkspace(admin, "doomed");
    await admin(deleteWorkspace, { workspace: "doomed" });
    await organizations.tenants.createOrganization();
    expect(await admin(listWorkspaces)).toMatchObject({ totalCount: 1, workspaces: [{ id: tenant.workspaceId }] });
  });
});

describe("a workspace named in a request", () => {
  it("is found by id and slug", async () => {
    const { id } = await makeWorkspace(admin, "found");
    for (const workspace of [id, id.toUpperCase(), "found"]) {
      expect((await admin(getWorkspace, { workspace })).workspace?.id).toBe(id);
    }
  });

  it("is reported missing if it is another organization's or was deleted", async () => {
    const { id: deleted } = await makeWorkspace(admin, "deleted");
    await admin(deleteWorkspace, { workspace: deleted });
    const other = await organizations.administer();
    const { workspace: foreign } = await other.admin(createWorkspace, { name: "Foreign", slug: "foreign" });
    for (const workspace of [
      newId(),
      deleted,
      "deleted",
      foreign?.id ?? "",
      "foreign",
      "",
      "Ü",
      "\0",
      "x".repeat(100_000),
    ]) {
      const failures = await Promise.all([
        failureOf(admin(getWorkspace, { workspace })),
        failureOf(admin(updateWorkspace, { workspace, updateMask: { paths: ["name"] }, name: "Mine" })),
        failureOf(admin(deleteWorkspace, { workspace })),
        failureOf(admin(listWorkspaceMembers, { workspace })),
        failureOf(admin(addWorkspaceMembers, { workspace, userIds: [tenant.userId] })),
        failureOf(admin(removeWorkspaceMembers, { workspace, userIds: [tenant.userId] })),
      ]);
      for (const failure of failures) {
        expect(failure).toMatchObject(notFound);
        expect(failure.message).toBe(failures[0]?.message);
      }
    }
  });
});

describe("UpdateWorkspace", () => {
  it("changes the fields in the mask, and removes those left unset", async () => {
    await makeWorkspace(admin, "before", { description: "Old" });
    const change = async (workspace: string, paths: string[], fields: object) =>
      (await admin(updateWorkspace, { workspace, updateMask: { paths }, ...fields })).workspace;
    const renamed = await change("before", ["name", "slug"], { name: "After", slug: "after", description: "Ignored" });
    expect(renamed).toMatchObject({ name: "After", slug: "after", description: "Old" });
    expect(renamed?.updateTime).toBeDefined();
    const last = await change("after", ["description", "default_text_model"], { defaultTextModel: "m" });
    expect(last?.description).toBeUndefined();
    expect(last?.defaultTextModel).toBe("m");
    expect((await admin(getWorkspace, { workspace: "after" })).workspace).toEqual(last);
    expect(await failureOf(admin(getWorkspace, { workspace: "before" }))).toMatchObject(notFound);
  });

  it.each([
    ["no mask", {}, "update_mask"],
    ["an unknown field", { updateMask: { paths: ["id"] } }, "update_mask.paths[0]"],
    ["no name", { updateMask: { paths: ["name"] } }, "name"],
    ["no slug", { updateMask: { paths: ["slug"] } }, "slug"],
  ])("rejects %s", async (_name, request, field) => {
    expect(await failureOf(admin(updateWorkspace, { workspace: "default", ...request }))).toMatchObject({
      code: "INVALID_ARGUMENT",
      violations: [{ field }],
    });
  });

  it("rejects a taken slug, but not its own", async () => {
    await makeWorkspace(admin, "mine");
    const change = (slug: string) =>
      admin(updateWorkspace, { workspace: "mine", updateMask: { paths: ["slug"] }, slug });
    expect(await failureOf(change("default"))).toMatchObject({ reason: "SLUG_TAKEN" });
    expect((await change("mine")).workspace?.updateTime).toBeUndefined();
  });
});

describe("DeleteWorkspace", () => {
  it("disconnects the workspace's keys and frees its slug", async () => {
    const { id } = await makeWorkspace(admin, "gone");
    const { key } = await admin(createKey, { name: "Off", workspaceId: "gone" });
    const disabled = { key: key?.id ?? "", updateMask: { paths: ["disabled"] } };
    await admin(updateKey, { ...disabled, disabled: true });
    await organizations.tenants.createKey(tenant, { workspaceId: id, expiresAt: new Date(Date.now() - 1) });
    expect((await admin(deleteWorkspace, { workspace: "gone" })).workspace?.id).toBe(id);
    expect(await failureOf(admin(updateKey, { ...disabled, disabled: false }))).toMatchObject({
      reason: "KEY_OF_NO_WORKSPACE",
    });
    // As one that was enabled by an older release.
    const { secret } = await organizations.tenants.createKey(tenant, { workspaceId: id });
    expect((await organizations.exchange(secret)).principal?.workspaceId).toBe("");
    expect(await failureOf(organizations.as(tenant.managementKey, id))).toMatchObject(notFound);
    expect((await makeWorkspace(admin, "gone")).id).not.toBe(id);
  });

  it("rejects the default workspace", async () => {
    expect(await failureOf(admin(deleteWorkspace, { workspace: "default" }))).toMatchObject({
      code: "FAILED_PRECONDITION",
      reason: "WORKSPACE_IS_DEFAULT",
    });
  });

  it("rejects a workspace with working keys and names them", async () => {
    await makeWorkspace(admin, "busy");
    const { key } = await admin(createKey, { name: "n".repeat(255), workspaceId: "busy" });
    const others = await Promise.all(
      Array.from({ length: 6 }, (_, n) => admin(createKey, { name: `Key ${n}`, workspaceId: "busy" })),
    );
    const failure = await failureOf(admin(deleteWorkspace, { workspace: "busy" }));
    expect(failure).toMatchObject({ code: "FAILED_PRECONDITION", reason: "WORKSPACE_HAS_KEYS" });
    expect(failure.message).toContain(`"${"n".repeat(40)}…" (${key?.id})`);
    expect(failure.message).toContain("and 2 more.");
    for (const each of [key, ...others.map((other) => other.key)]) await admin(deleteKey, { key: each?.id ?? "" });
    await admin(deleteWorkspace, { workspace: "busy" });
  });

  it("succeeds once for simultaneous calls", async () => {
    await makeWorkspace(admin, "raced");
    const results = await Promise.allSettled(
      Array.from({ length: 6 }, () => admin(deleteWorkspace, { workspace: "raced" })),
    );
    const refused = results.filter((result) => result.status === "rejected").map(({ reason }) => reason);
    expect(refused).toEqual(Array(5).fill(expect.objectContaining(notFound)));
  });

  it("leaves no working key that is created at the same time", async () => {
    for (let round = 0; round < 5; round += 1) {
      await makeWorkspace(admin, `raced-${round}`);
      const workspace = `raced-${round}`;
      const [made, deleted] = await Promise.allSettled([
        admin(createKey, { name: "Late", workspaceId: workspace }),
        admin(deleteWorkspace, { workspace }),
      ]);
      expect([made.status, deleted.status].sort()).toEqual(["fulfilled", "rejected"]);
    }
  });
});
