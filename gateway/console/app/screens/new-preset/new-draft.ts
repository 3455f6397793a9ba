import { slugLengthMax } from "../../../../../services/platform/domain/limits.ts";
import { dialectOf, type VersionContent } from "../../api/presets.ts";
import type { Dialect, SessionWorkspace } from "../../api/types.ts";
import { indented } from "../../json/json-pieces.ts";
import { newPresetPart } from "../../shell/preset-hrefs.ts";
import { deleteStored, findStored, store } from "../../shell/tab-storage.ts";

/** A preset that is being written. It survives a reload. */
export interface NewDraft {
  /** Where it will be created; if absent, in the workspace of the page. */
  readonly workspaceId?: string;
  readonly slug: string;
  readonly dialect: Dialect;
  readonly config: string;
  readonly prompt: string;
  /** The last request that was sent, with its idempotency key: sending it again makes no second version. */
  readonly sent?: { readonly request: string; readonly idempotencyKey: string };
}

/** The initial config for each dialect. The model is one that every fresh installation serves. */
const configs: Readonly<Record<Dialect, object>> = {
  "chat/completions": { model: "echo/small", temperature: 0.2 },
  messages: { model: "echo/small", max_tokens: 1000, temperature: 0.2 },
  responses: { model: "echo/small", max_output_tokens: 1000, temperature: 0.2 },
};

export function newDraft(slug: string, dialect: Dialect = "chat/completions"): NewDraft {
  return { slug, dialect, config: JSON.stringify(configs[dialect], null, 2), prompt: "" };
}

/** A copy of a version. */
export function draftLike(place: DraftPlace, content: VersionContent): NewDraft {
  return {
    slug: suggestedSlug(place),
    dialect: dialectOf(content),
    config: indented(content.config),
    prompt: content.prompt ?? "",
  };
}

/** A copy that is meant for another workspace than before. Its slug follows, unless another was typed. */
export function movedDraft(draft: NewDraft, place: DraftPlace, workspaceId: string): NewDraft {
  const isSuggested = draft.slug === suggestedSlug(place, draft.workspaceId);
  return { ...draft, workspaceId, slug: isSuggested ? suggestedSlug(place, workspaceId) : draft.slug };
}

/** In another workspace, a copy may have the slug of what it is a copy of. */
function suggestedSlug({ workspace, like }: DraftPlace, workspaceId = workspace.id): string {
  const [slug = ""] = like.split("@");
  return workspaceId === workspace.id ? `${slug.slice(0, slugLengthMax - "-copy".length)}-copy` : slug;
}

/** Whether none of the content was written by hand. */
export function isUntouched({ slug, dialect, config, prompt }: NewDraft): boolean {
  return prompt === "" && config === newDraft(slug, dialect).config;
}

/** Where a draft is stored. A copy has a place of its own, so that it replaces nothing else that was written. */
export interface DraftPlace {
  readonly workspace: SessionWorkspace;
  /** The version that it is a copy of, such as `support-reply@3`; empty if it is no copy. */
  readonly like: string;
}

function nameOf({ workspace, like }: DraftPlace): string {
  // In the position where the names of other drafts have a slug.
  return `setpoint-draft/${workspace.id}/${newPresetPart}/${like}`;
}

export function findNewDraft(place: DraftPlace): NewDraft | undefined {
  return findStored(nameOf(place));
}

export function storeNewDraft(place: DraftPlace, draft: NewDraft): void {
  store(nameOf(place), draft);
}

export function deleteNewDraft(place: DraftPlace): void {
  deleteStored(nameOf(place));
}
