import { expect } from "vitest";
import { MemberRole } from "../../proto/gen/setpoint/organization/v1/member_pb.ts";
import { Dialect } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import { newSessionToken } from "../../services/organization/domain/sessions.ts";
import { createSession } from "../../services/organization/store/create-session.ts";
import { newId } from "../../services/platform/domain/ids.ts";
import type { Stack } from "./stack.ts";
import type { SeenError } from "./transports.ts";

type Request = Record<string, unknown>;

/** A call of a method that succeeds, and one that fails. */
export interface Sample {
  readonly good: () => Request | Promise<Request>;
  readonly answer: object;
  /** Absent if the method can fail only for a missing token. */
  readonly bad?: Request;
  readonly error?: SeenError;
  /** For each part of a batch. */
  readonly outcomes?: readonly object[];
  readonly isOpen?: boolean;
}

const invalid = (...fields: string[]): SeenError => ({ code: "INVALID_ARGUMENT", reason: "INVALID_REQUEST", fields });
const badPart = { kind: "invalid_argument", reason: "INVALID_REQUEST", violations: [{ path: "slug" }] };
const noDetails = { fields: [] };
const keyNotFound: SeenError = { code: "NOT_FOUND", reason: "KEY_NOT_FOUND", ...noDetails };
const sessionInvalid: SeenError = { code: "UNAUTHENTICATED", reason: "SESSION_INVALID", ...noDetails };

type Samples = Readonly<Record<string, Sample>>;

/** For a preset with two versions, whose configs are `{"seed":1}` and `{"seed":2}`. */
export function presetSamples(slug: string): Samples {
  const preset = { slug, designatedVersion: {} };
  return {
    "setpoint.preset.v1.PresetService/CreateVersion": {
      good: () => ({ slug, configJson: "{}", dialect: Dialect.MESSAGES }),
      answer: { preset: { slug, designatedVersion: { dialect: Dialect.MESSAGES } } },
      bad: { slug: "-", configJson: "[]", dialect: 99 },
      error: invalid("slug", "config_json", "dialect"),
    },
    "setpoint.preset.v1.PresetService/BatchCreateVersions": {
      good: () => ({
        requests: [
          { slug, configJson: "{}" },
          { slug: "-", configJson: "{}" },
        ],
      }),
      answer: { outcomes: [{}, {}] },
      outcomes: [preset, badPart],
      bad: {},
      error: invalid("requests"),
    },
    "setpoint.preset.v1.PresetService/GetPreset": {
      good: () => ({ slug }),
      answer: { preset },
      bad: { slug: "-" },
      error: invalid("slug"),
    },
    "setpoint.preset.v1.PresetService/BatchGetPresets": {
      good: () => ({ slugs: [slug, "-"] }),
      answer: { outcomes: [{}, {}] },
      outcomes: [preset, badPart],
      bad: {},
      error: invalid("slugs"),
    },
    "setpoint.preset.v1.PresetService/ListPresets": {
      good: () => ({ limit: 1, statuses: [1] }),
      answer: { presets: [{ slug }], totalCount: 1 },
      bad: { statuses: [1, 99] },
      error: invalid("statuses[1]"),
    },
    "setpoint.preset.v1.PresetService/UpdatePreset": {
      good: () => ({ slug, updateMask: { paths: ["name", "description"] }, name: "Name" }),
      answer: { preset: { ...preset, name: "Name" } },
      bad: { slug },
      error: invalid("update_mask"),
    },
    "setpoint.preset.v1.PresetService/GetVersion": {
      good: () => ({ slug, version: 2 }),
      answer: { version: { version: 2, configJson: '{"seed":2}', dialect: Dialect.CHAT_COMPLETIONS } },
      bad: { slug, version: 0 },
      error: invalid("version"),
    },
    "setpoint.preset.v1.PresetService/FindSimilarSlug": {
      good: () => ({ slug: `${slug}x` }),
      answer: { slug },
      bad: { slug: "-" },
      error: invalid("slug"),
    },
    "setpoint.preset.v1.PresetService/ListVersions": {
      good: () => ({ slug, limit: 2 }),
      answer: { versions: [{ version: 1, dialect: Dialect.CHAT_COMPLETIONS }, { version: 2 }] },
      bad: { slug, offset: -1 },
      error: invalid("offset"),
    },
    "setpoint.preset.v1.PresetService/DiffVersions": {
      good: () => ({ slug, fromVersion: 1, toVersion: 2 }),
      answer: { config: [{ key: "seed", fromJson: "1", toJson: "2" }], systemPromptChanged: false },
      bad: { slug, fromVersion: 1 },
      error: invalid("to_version"),
    },
    "setpoint.preset.v1.PresetService/ListChanges": {
      good: () => ({ slug, limit: 1 }),
      answer: { changes: [{ fields: [{}] }] },
      bad: { slug, limit: -1 },
      error: invalid("limit"),
    },
    "setpoint.preset.v1.PresetService/ListWorkspaceChanges": {
      good: () => ({ limit: 1 }),
      answer: { changes: [{ slug, change: { fields: [{}] } }] },
      bad: { limit: 101 },
      error: invalid("limit"),
    },
  };
}

/** For the management key of the stack. */
export function organizationSamples(stack: () => Stack): Samples {
  return {
    "setpoint.organization.v1.OrganizationService/ListMembers": {
      good: () => ({ limit: 1 }),
      answer: { members: [{}] },
      bad: { limit: 101 },
      error: invalid("limit"),
    },
    "setpoint.organization.v1.OrganizationService/AddMember": {
      good: () => ({ email: `${newId()}@example.com`, firstName: "Grace", role: MemberRole.ADMIN }),
      answer: { member: { firstName: "Grace" } },
      bad: { email: "none" },
      error: invalid("email"),
    },
    "setpoint.organization.v1.OrganizationService/UpdateMember": {
      good: async () => ({ userId: await newMember(stack()), updateMask: { paths: ["first_name"] }, firstName: "Ada" }),
      answer: { member: { firstName: "Ada" } },
      bad: { userId: "none" },
      error: invalid("update_mask"),
    },
    "setpoint.organization.v1.OrganizationService/RemoveMember": {
      good: async () => ({ userId: await newMember(stack()) }),
      answer: { member: {}, disabledKeyCount: 0 },
      bad: { userId: "none" },
      error: { code: "NOT_FOUND", reason: "MEMBER_NOT_FOUND", ...noDetails },
    },
    "setpoint.organization.v1.OrganizationService/ListChanges": {
      good: () => ({ limit: 1 }),
      answer: { changes: [{ target: {} }] },
      bad: { action: 99 },
      error: invalid("action"),
    },
    "setpoint.organization.v1.KeyService/ListKeys": {
      good: () => ({ limit: 2, includeDisabled: true }),
      answer: { keys: [{}, {}] },
      bad: { limit: 101 },
      error: invalid("limit"),
    },
    "setpoint.organization.v1.KeyService/CreateKey": {
      good: () => ({ name: "Encoded", permissions: ["presets:read"] }),
      answer: { key: { name: "Encoded" }, secret: expect.stringContaining("sk-sp-v1-") },
      bad: { name: "", permissions: ["none"] },
      error: invalid("name", "permissions[0]"),
    },
    "setpoint.organization.v1.KeyService/GetKey": {
      good: async () => ({ key: await newKeyId(stack()) }),
      answer: { key: { name: "A key" } },
      bad: { key: "none" },
      error: keyNotFound,
    },
    "setpoint.organization.v1.KeyService/UpdateKey": {
      good: async () => ({ key: await newKeyId(stack()), updateMask: { paths: ["disabled"] }, disabled: true }),
      answer: { key: { disabled: true } },
      bad: { key: "none" },
      error: invalid("update_mask"),
    },
    "setpoint.organization.v1.KeyService/DeleteKey": {
      good: async () => ({ key: await newKeyId(stack()) }),
      answer: { key: { name: "A key" } },
      bad: { key: "none" },
      error: keyNotFound,
    },
    "setpoint.organization.v1.KeyService/RotateKey": {
      good: async () => ({ key: await newKeyId(stack()), graceSeconds: 60 }),
      answer: { key: { previousExpireTime: {} }, secret: expect.stringContaining("sk-sp-v1-") },
      bad: { key: "none", graceSeconds: -1 },
      error: invalid("grace_seconds"),
    },
    "setpoint.organization.v1.KeyService/GetCurrentKey": {
      good: () => ({}),
      answer: { key: { name: "First management key" }, principal: {} },
    },
    "setpoint.organization.v1.WorkspaceService/ListWorkspaces": {
      good: () => ({ limit: 1 }),
      answer: { workspaces: [{ slug: "default", isDefault: true }] },
      bad: { offset: -1 },
      error: invalid("offset"),
    },
    "setpoint.organization.v1.WorkspaceService/CreateWorkspace": {
      good: () => ({ name: "Encoded", slug: `w-${newId().replaceAll("-", "")}`, description: "" }),
      answer: { workspace: { name: "Encoded" } },
      bad: { name: "Encoded", slug: "-" },
      error: invalid("slug"),
    },
    "setpoint.organization.v1.WorkspaceService/GetWorkspace": {
      good: () => ({ workspace: "default" }),
      answer: { workspace: { isDefault: true } },
      bad: { workspace: "none" },
      error: { code: "NOT_FOUND", reason: "WORKSPACE_NOT_FOUND", ...noDetails },
    },
    "setpoint.organization.v1.WorkspaceService/UpdateWorkspace": {
      good: () => ({ workspace: "default", updateMask: { paths: ["description"] }, description: "New" }),
      answer: { workspace: { description: "New" } },
      bad: { workspace: "default" },
      error: invalid("update_mask"),
    },
    "setpoint.organization.v1.WorkspaceService/DeleteWorkspace": {
      good: async () => ({ workspace: await stack().tenants.createWorkspace(stack()) }),
      answer: { workspace: { name: "Another" } },
      bad: { workspace: "default" },
      error: { code: "FAILED_PRECONDITION", reason: "WORKSPACE_IS_DEFAULT", fields: ["workspace"] },
    },
    "setpoint.organization.v1.WorkspaceService/ListWorkspaceMembers": {
      good: () => ({ workspace: "default", limit: 1 }),
      answer: { members: [{}] },
      bad: { workspace: "default", limit: 101 },
      error: invalid("limit"),
    },
    "setpoint.organization.v1.WorkspaceService/AddWorkspaceMembers": {
      good: async () => ({ workspace: await stack().tenants.createWorkspace(stack()), userIds: [stack().userId] }),
      answer: { members: [{}], addedCount: 1 },
      bad: { workspace: "default" },
      error: invalid("user_ids"),
    },
    "setpoint.organization.v1.WorkspaceService/RemoveWorkspaceMembers": {
      good: async () => ({ workspace: await stack().tenants.createWorkspace(stack()), userIds: [stack().userId] }),
      answer: { removedCount: 0 },
      bad: { workspace: "default" },
      error: invalid("user_ids"),
    },
    "setpoint.organization.v1.AccessService/ExchangeKey": {
      isOpen: true,
      good: () => ({ key: stack().managementKey }),
      answer: { principal: {} },
      bad: { key: "none" },
      error: { code: "UNAUTHENTICATED", reason: "KEY_INVALID", ...noDetails },
    },
    "setpoint.organization.v1.AccessService/BatchExchangeKeys": {
      isOpen: true,
      good: () => ({ requests: [{ key: stack().managementKey }, { key: "none" }] }),
      answer: { outcomes: [{}, {}] },
      outcomes: [{ principal: {} }, { kind: "unauthenticated", reason: "KEY_INVALID" }],
      bad: {},
      error: invalid("requests"),
    },
    "setpoint.organization.v1.AccessService/GetKeySet": {
      isOpen: true,
      good: () => ({}),
      answer: { jwksJson: expect.stringContaining('"keys"') },
    },
    "setpoint.organization.v1.AccessService/GetWorkspaceState": {
      isOpen: true,
      good: async () => {
        const workspaceId = await stack().tenants.createWorkspace(stack());
        await stack().tenants.deleteWorkspace(workspaceId);
        return { workspaceId };
      },
      answer: { isDeleted: true },
      bad: { workspaceId: "default" },
      error: invalid("workspace_id"),
    },
    "setpoint.organization.v1.SessionService/CreateSession": {
      isOpen: true,
      good: () => ({ credential: { case: "key", value: stack().apiKey } }),
      answer: { token: expect.stringContaining("sess-sp-v1-"), session: { keyName: "First API key" } },
      bad: { credential: { case: "ticket", value: "none" } },
      error: { code: "UNAUTHENTICATED", reason: "TICKET_INVALID", ...noDetails },
    },
    "setpoint.organization.v1.SessionService/GetSession": {
      isOpen: true,
      good: async () => ({ token: await newSession(stack()) }),
      answer: { session: { keyName: "First API key" } },
      bad: { token: "none" },
      error: sessionInvalid,
    },
    "setpoint.organization.v1.SessionService/DeleteSession": {
      isOpen: true,
      good: async () => ({ token: await newSession(stack()) }),
      answer: {},
      bad: { token: "none" },
      error: sessionInvalid,
    },
  };
}

export const healthSamples: Samples = {
  "grpc.health.v1.Health/Check": {
    isOpen: true,
    good: () => ({}),
    answer: { status: 1 },
    bad: { service: "none" },
    error: { code: "NOT_FOUND", reason: "SERVICE_UNKNOWN", ...noDetails },
  },
  "grpc.health.v1.Health/Watch": { isOpen: true, good: () => ({}), answer: { status: 1 } },
};

async function newKeyId(stack: Stack): Promise<string> {
  return (await stack.tenants.createKey(stack)).key.id;
}

async function newSession({ apiKey, organizationPool }: Stack): Promise<string> {
  const token = newSessionToken(new Uint8Array());
  const caller = { deadlineMs: Number.POSITIVE_INFINITY, isCanceled: () => false };
  await createSession(organizationPool, { kind: "key", secret: apiKey }, token, caller);
  return token;
}

async function newMember(stack: Stack): Promise<string> {
  const user = { email: `${newId()}@example.com`, firstName: undefined, lastName: undefined, createdAt: new Date() };
  const [userId] = await stack.tenants.addMembers(stack, [{ ...user, role: "org:member" }]);
  return userId as string;
}
