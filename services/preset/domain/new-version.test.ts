import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Principal } from "../../platform/auth/principal.ts";
import { DomainError } from "../../platform/domain/domain-error.ts";
import { contentBytesMax } from "../../platform/domain/limits.ts";
import { newVersion, type VersionDraft } from "./new-version.ts";

const principal: Principal = {
  keyId: "019a0000-0000-7000-8000-000000000001",
  keyKind: "api",
  userId: "user_000000000000000000000001",
  organizationId: "019a0000-0000-7000-8000-000000000002",
  workspaceId: "019a0000-0000-7000-8000-000000000003",
  permissions: ["presets:write"],
};

function draft(change: Partial<VersionDraft> = {}): VersionDraft {
  const empty = { requestId: "", requestDigest: new Uint8Array(), etags: [] };
  return { slug: "support", configJson: '{"model":"m"}', ...empty, ...change };
}

function pathsOf(change: Partial<VersionDraft>): string[] {
  return refusalOf(change).violations.map(({ path }) => path);
}

function refusalOf(change: Partial<VersionDraft>, by = principal): DomainError {
  try {
    newVersion(by, draft(change));
  } catch (error) {
    if (error instanceof DomainError) return error;
  }
  throw new Error("nothing was refused");
}

/** A config of exactly this many bytes. */
function configOf(bytes: number): string {
  return `{"model":"${"x".repeat(bytes - '{"model":""}'.length)}"}`;
}

describe("newVersion", () => {
  it("creates for the principal's workspace, with the config as given", () => {
    const configJson = '{ "temperature": 1.0, "model": "é" }';
    expect(newVersion(principal, draft({ configJson, systemPrompt: "Be brief." }))).toMatchObject({
      workspaceId: principal.workspaceId,
      slug: "support",
      configJson,
      systemPrompt: "Be brief.",
      actor: { userId: principal.userId, keyId: principal.keyId },
    });
  });

  it.each([undefined, ""])("treats the system prompt %j as none", (systemPrompt) => {
    expect(newVersion(principal, draft({ systemPrompt })).systemPrompt).toBeUndefined();
  });

  it("generates a missing request id", () => {
    const [first, second] = [newVersion(principal, draft()), newVersion(principal, draft())];
    expect(first.requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(second.requestId).not.toBe(first.requestId);
    expect(newVersion(principal, draft({ requestId: "mine" })).requestId).toBe("mine");
  });

  it("has the same digest only for the same content", () => {
    const digest = (change: Partial<VersionDraft>) =>
      newVersion(principal, draft(change)).requestDigest.toString("hex");
    expect(digest({ requestId: "a" })).toBe(digest({ requestId: "b" }));
    const others = [{ slug: "other" }, { configJson: "{}" }, { systemPrompt: "x" }, { configJson: '{"model":"m"} ' }];
    expect(new Set([{}, ...others].map(digest)).size).toBe(5);
  });

  it("has a digest that does not depend on the dialect, which a retry may not know", () => {
    const digest = createHash("sha256").update('support\0{"model":"m"}\0').digest();
    expect(newVersion(principal, draft()).requestDigest).toEqual(digest);
    expect(newVersion(principal, draft({ dialect: "messages" })).requestDigest).toEqual(digest);
  });

  it.each([undefined, "chat/completions", "messages", "responses"])("accepts the dialect %j", (dialect) => {
    expect(newVersion(principal, draft({ dialect })).dialect).toBe(dialect);
  });

  it("uses the caller's own digest", () => {
    const requestDigest = createHash("sha256").update("body").digest();
    expect(newVersion(principal, draft({ requestDigest })).requestDigest).toEqual(requestDigest);
  });

  it("enforces the rules of config fields for every caller", () => {
    const configJson =
      '{"model":"@preset/x","temperature":"hot","max_tokens":-5,"tools":[{},1],"stop":null,"route":null}';
    expect(refusalOf({ configJson }).violations).toEqual([
      {
        path: "config_json.model",
        message: "must be the name of a model, not a reference to a preset (@preset/…)",
      },
      { path: "config_json.temperature", message: "must be a number" },
      { path: "config_json.max_tokens", message: "must be at least 1" },
      { path: "config_json.tools[1]", message: "must be an object" },
      { path: "config_json.stop", message: "must not be null; leave the field out" },
      { path: "config_json.route", message: "must not be null; leave the field out" },
    ]);
  });

  it.each<[string, Partial<VersionDraft>, string[]]>([
    ["an invalid slug", { slug: "-" }, ["slug"]],
    ["no config", { configJson: "" }, ["config_json"]],
    ["broken JSON", { configJson: "{" }, ["config_json"]],
    ["a list", { configJson: "[]" }, ["config_json"]],
    ["null", { configJson: "null" }, ["config_json"]],
    ["unknown fields", { configJson: '{"a":1,"model":"m","b c":2}' }, ["config_json.a", 'config_json["b c"]']],
    [
      "a field named like an Object.prototype member",
      { configJson: '{"constructor":1,"__proto__":2}' },
      ["config_json.constructor", "config_json.__proto__"],
    ],
    ["a model that refers to a preset", { configJson: '{"model":"a/b@preset/x@7"}' }, ["config_json.model"]],
    ["such a model in a list", { configJson: '{"models":["m","a\\n@preset/x"]}' }, ["config_json.models[1]"]],
    ["an inexact integer", { configJson: '{"tools":[{"n":9007199254740993}]}' }, ["config_json.tools[0].n"]],
    ["a duplicate field", { configJson: '{"top_k":1,"top\\u005fk":2}' }, ["config_json.top_k"]],
    ["a duplicate key in a field", { configJson: '{"provider":{"a":1,"a":2}}' }, ["config_json.provider.a"]],
    ["65 levels", { configJson: `{"tools":${"[".repeat(64)}${"]".repeat(64)}}` }, ["config_json"]],
    ["a config that is too large", { configJson: configOf(contentBytesMax + 1) }, ["config_json"]],
    ["a prompt that is too large in bytes", { systemPrompt: "é".repeat(contentBytesMax / 2 + 1) }, ["system_prompt"]],
    ["an unknown dialect", { dialect: "unknown" }, ["dialect"]],
    ["a request id that is too long", { requestId: "x".repeat(256) }, ["request_id"]],
    ["a request id with a tab", { requestId: "\t" }, ["request_id"]],
    ["a digest that is too short", { requestDigest: new Uint8Array(31) }, ["request_digest"]],
    ["several errors", { slug: "", configJson: "1", requestId: "é" }, ["slug", "config_json", "request_id"]],
  ])("rejects %s by its path", (_name, change, paths) => {
    expect(pathsOf(change)).toEqual(paths);
  });

  it.each<[string, Partial<VersionDraft>]>([
    ["a config", { configJson: configOf(contentBytesMax) }],
    ["a system prompt", { systemPrompt: "é".repeat(contentBytesMax / 2) }],
    ["a request id", { requestId: "~".repeat(255) }],
    ["nesting", { configJson: `{"route":${"[".repeat(63)}${"]".repeat(63)}}` }],
  ])("accepts %s at its limit", (_name, change) => {
    expect(newVersion(principal, draft(change)).slug).toBe("support");
  });

  it("checks permission and workspace before the content", () => {
    expect(refusalOf({ slug: "" }, { ...principal, permissions: ["presets:read"] }).kind).toBe("permission_denied");
    expect(refusalOf({ slug: "" }, { ...principal, workspaceId: undefined }).reason).toBe("WORKSPACE_NOT_FOUND");
  });
});
