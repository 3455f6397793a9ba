import { hash } from "node:crypto";
import { type Principal, requirePermission, requireWorkspace } from "../../platform/auth/principal.ts";
import { configChecks } from "../../platform/config-fields/config-fields.ts";
import { DomainError, type FieldViolation, invalidRequest, violationsMax } from "../../platform/domain/domain-error.ts";
import { isId, newId } from "../../platform/domain/ids.ts";
import { requestIdViolations, sizeViolations } from "../../platform/domain/text-violations.ts";
import { fieldPath } from "../../platform/json/field-path.ts";
import { ambiguities, parseJsonObject } from "../../platform/json/json-text.ts";
import type { Actor } from "./change.ts";
import { etagsViolations } from "./etags.ts";
import { type Dialect, dialects } from "./preset.ts";
import { newSlugViolations } from "./slug.ts";

/** The content of a version as a caller gives it. */
export interface VersionDraft {
  readonly slug: string;
  readonly configJson: string;
  readonly systemPrompt?: string | undefined;
  /** Undefined: not known. */
  readonly dialect?: string | undefined;
  /** Empty: a new one. */
  readonly requestId: string;
  /** Empty: a digest of slug, config and system prompt. */
  readonly requestDigest: Uint8Array;
  /**
   * The required state of the preset: its etag is one of these, `*` for any, `-` for a preset that does not exist;
   * empty: any state.
   */
  readonly etags: readonly string[];
}

/** A creation that has passed all content rules, ready to be stored. */
export interface NewVersion {
  readonly workspaceId: string;
  readonly slug: string;
  readonly configJson: string;
  readonly systemPrompt: string | undefined;
  readonly dialect: Dialect | undefined;
  readonly actor: Actor;
  /** Names this creation within the workspace. */
  readonly requestId: string;
  /** Whether the caller chose the request id, and so may have used it for something else. */
  readonly isNamedByCaller: boolean;
  /** SHA-256 of what a retry with the same request id must repeat. */
  readonly requestDigest: Buffer;
  /** As in the draft. */
  readonly etags: readonly string[];
}

const digestBytes = 32;

/** Checks a draft against all rules at once and turns it into a creation in the principal's workspace. */
export function newVersion(principal: Principal, draft: VersionDraft): NewVersion {
  requirePermission(principal, "presets:write");
  const workspaceId = requireWorkspace(principal);
  const violations = [
    ...newSlugViolations(draft.slug),
    ...configViolations(draft.configJson),
    ...sizeViolations("system_prompt", draft.systemPrompt ?? ""),
    ...dialectViolations(draft.dialect),
    ...requestIdViolations(draft.requestId),
    ...digestViolations(draft.requestDigest),
    ...etagsViolations(draft.etags),
  ];
  if (violations.length > 0) throw invalidRequest(violations);
  return {
    workspaceId,
    slug: draft.slug,
    configJson: draft.configJson,
    systemPrompt: draft.systemPrompt || undefined,
    dialect: draft.dialect as Dialect | undefined,
    actor: principal,
    requestId: draft.requestId || newId(),
    // The gateway gives every creation a UUID as its id, and a digest only if the id came from its caller.
    isNamedByCaller: draft.requestDigest.length > 0 || (draft.requestId !== "" && !isId(draft.requestId)),
    requestDigest: draft.requestDigest.length > 0 ? Buffer.from(draft.requestDigest) : digestOf(draft),
    etags: draft.etags,
  };
}

function configViolations(configJson: string): readonly FieldViolation[] {
  const size = sizeViolations("config_json", configJson);
  if (size.length > 0) return size;
  try {
    const config = parseJsonObject(configJson, "config_json");
    const violations = ambiguities(config);
    for (const { key, value } of config.members) {
      const check = configChecks.get(key);
      if (check?.passes(value) && value !== null) continue;
      const path = fieldPath(config.path, key);
      if (!check) violations.push({ path, message: "is not a field of a preset config" });
      else if (value === null) violations.push({ path, message: "must not be null; leave the field out" });
      else violations.push(...check.violations(value, path));
      if (violations.length >= violationsMax) break;
    }
    return violations;
  } catch (error) {
    if (error instanceof DomainError) return error.violations;
    throw error;
  }
}

function dialectViolations(dialect: string | undefined): FieldViolation[] {
  if (dialect === undefined || dialects.includes(dialect as Dialect)) return [];
  return [{ path: "dialect", message: "must be a known dialect" }];
}

function digestViolations(digest: Uint8Array): FieldViolation[] {
  if (digest.length === 0 || digest.length === digestBytes) return [];
  return [{ path: "request_digest", message: `must be ${digestBytes} bytes` }];
}

function digestOf({ slug, configJson, systemPrompt }: VersionDraft): Buffer {
  // Neither a slug nor JSON text contains a NUL, so the parts cannot run together. Without the dialect: during an
  // upgrade, a retry may reach a process that knows it, from one that does not.
  return hash("sha256", `${slug}\0${configJson}\0${systemPrompt ?? ""}`, "buffer");
}
