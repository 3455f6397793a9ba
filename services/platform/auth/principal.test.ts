import { describe, expect, it } from "vitest";
import {
  type Principal,
  requireManagementKey,
  requireOrganization,
  requirePermission,
  requireWorkspace,
} from "./principal.ts";

const principal: Principal = {
  keyId: "key",
  keyKind: "management",
  userId: "user",
  organizationId: "organization",
  workspaceId: "workspace",
  permissions: ["presets:read"],
};

describe("a requirement on a principal", () => {
  it("passes if met", () => {
    requirePermission(principal, "presets:read");
    requirePermission(principal, "inference", "presets:read");
    requireManagementKey(principal);
    expect(requireWorkspace(principal)).toBe("workspace");
    expect(requireOrganization(principal)).toBe("organization");
  });

  it.each<[string, () => unknown, string, string]>([
    ["a permission", () => requirePermission(principal, "presets:write"), "permission_denied", "PERMISSION_MISSING"],
    [
      "one of two permissions",
      () => requirePermission(principal, "presets:write", "inference"),
      "permission_denied",
      "PERMISSION_MISSING",
    ],
    [
      "a management key",
      () => requireManagementKey({ ...principal, keyKind: "api" }),
      "permission_denied",
      "MANAGEMENT_KEY_REQUIRED",
    ],
    [
      "a workspace",
      () => requireWorkspace({ ...principal, workspaceId: undefined }),
      "not_found",
      "WORKSPACE_NOT_FOUND",
    ],
    [
      "an organization",
      () => requireOrganization({ ...principal, organizationId: undefined }),
      "not_found",
      "ORGANIZATION_NOT_FOUND",
    ],
  ])("fails if not met: %s", (_name, require, kind, reason) => {
    expect(require).toThrow(expect.objectContaining({ kind, reason }));
  });
});
