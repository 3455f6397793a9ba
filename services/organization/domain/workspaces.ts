import { type FieldViolation, invalidRequest } from "../../platform/domain/domain-error.ts";
import { isId, newId } from "../../platform/domain/ids.ts";
import {
  workspaceDefaultLengthMax,
  workspaceDescriptionLengthMax,
  workspaceNameLengthMax,
  workspaceSlugLengthMax,
  workspaceSlugPattern,
  workspaceSlugRule,
} from "../../platform/domain/limits.ts";
import { lengthViolations } from "../../platform/domain/text-violations.ts";
import type { LoggedFields } from "./changes.ts";
import { nameViolations } from "./field-rules.ts";

/** The descriptive fields of a workspace. */
export interface WorkspaceFields {
  readonly name: string;
  readonly slug: string;
  readonly description: string | undefined;
  readonly defaultTextModel: string | undefined;
  readonly defaultImageModel: string | undefined;
  readonly defaultProviderSort: string | undefined;
}

export interface Workspace extends WorkspaceFields {
  readonly id: string;
  readonly organizationId: string;
  /** Undefined if it is not known. */
  readonly creatorUserId: string | undefined;
  readonly createdAt: Date;
  /** Undefined until the first change. */
  readonly updatedAt: Date | undefined;
}

/** What a caller wants to change. A field that is absent stays as it is; one that is undefined is removed. */
export type WorkspaceUpdate = Partial<WorkspaceFields>;

/** Throws if a field breaks its rule; all violations at once. */
export function checkWorkspace(fields: WorkspaceUpdate): void {
  const { name, slug, description, defaultTextModel, defaultImageModel, defaultProviderSort } = fields;
  const violations: FieldViolation[] = [
    ...(name === undefined ? [] : nameViolations("name", name, workspaceNameLengthMax)),
    ...(slug === undefined ? [] : slugViolations(slug)),
    ...lengthViolations("description", description ?? "", workspaceDescriptionLengthMax),
    ...lengthViolations("default_text_model", defaultTextModel ?? "", workspaceDefaultLengthMax),
    ...lengthViolations("default_image_model", defaultImageModel ?? "", workspaceDefaultLengthMax),
    ...lengthViolations("default_provider_sort", defaultProviderSort ?? "", workspaceDefaultLengthMax),
  ];
  if (violations.length > 0) throw invalidRequest(violations);
}

/** Whether a text can be a slug at all. */
export function isSlug(text: string): boolean {
  return text.length <= workspaceSlugLengthMax && workspaceSlugPattern.test(text);
}

function slugViolations(slug: string): FieldViolation[] {
  if (!isSlug(slug)) return [{ path: "slug", message: `must be ${workspaceSlugRule}` }];
  // Requests name a workspace by id or slug, which are distinguished by their form.
  return isId(slug) ? [{ path: "slug", message: "must not be a UUID" }] : [];
}

/**
 * The slug derived from a name, as the migration does it; a name without any usable letter or digit gets one from an
 * id.
 */
export function slugFromName(name: string, id: string): string {
  const slug = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, workspaceSlugLengthMax)
    .replace(/-$/, "");
  return slug === "" || isId(slug) ? `workspace-${id.replaceAll("-", "")}` : slug;
}

export function newWorkspace(
  organizationId: string,
  fields: Partial<WorkspaceFields> & Pick<WorkspaceFields, "name">,
  creatorUserId: string | undefined,
): Workspace {
  const id = newId();
  return {
    id,
    organizationId,
    name: fields.name,
    slug: fields.slug ?? slugFromName(fields.name, id),
    description: fields.description,
    defaultTextModel: fields.defaultTextModel,
    defaultImageModel: fields.defaultImageModel,
    defaultProviderSort: fields.defaultProviderSort,
    creatorUserId,
    createdAt: new Date(),
    updatedAt: undefined,
  };
}

/** What the change log shows of a workspace. */
export function loggedWorkspace(workspace: Workspace): LoggedFields {
  return {
    name: workspace.name,
    slug: workspace.slug,
    description: workspace.description ?? null,
    default_text_model: workspace.defaultTextModel ?? null,
    default_image_model: workspace.defaultImageModel ?? null,
    default_provider_sort: workspace.defaultProviderSort ?? null,
  };
}
