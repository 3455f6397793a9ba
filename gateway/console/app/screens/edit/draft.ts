import { keptFields } from "../../api/kept-fields.ts";
import { dialectOf, type VersionContent } from "../../api/presets.ts";
import type { SessionWorkspace } from "../../api/types.ts";
import { membersOf, objectFrom } from "../../json/json-pieces.ts";
import { deleteStored, findStored, store, storedNames } from "../../shell/tab-storage.ts";
import { isChanged } from "./is-changed.ts";

/** A new version that is being written. It survives a reload, and no response of the API changes it. */
export interface Draft {
  /** The version that it is based on. */
  readonly base: VersionContent;
  /** The version that was served when the draft was started; changes made by colleagues are found against it. */
  readonly ancestor: VersionContent;
  readonly etag: string | undefined;
  readonly config: string;
  readonly prompt: string;
  /** The last body that was sent, with its idempotency key: sending it again makes no second version. */
  readonly sent?: { readonly body: string; readonly idempotencyKey: string };
}

function nameOf(workspace: SessionWorkspace, slug: string, from: number | ""): string {
  return `setpoint-draft/${workspace.id}/${slug}/${from}`;
}

export function findDraft(workspace: SessionWorkspace, slug: string, from: number): Draft | undefined {
  return findStored(nameOf(workspace, slug, from));
}

/** The versions that unsaved drafts of a preset are based on. */
export function draftVersions(workspace: SessionWorkspace, slug: string): readonly number[] {
  const drafts = storedNames(nameOf(workspace, slug, "")).flatMap((name) => findStored<Draft>(name) ?? []);
  return drafts.filter(isChanged).map(({ base }) => base.version);
}

/** What saving the draft would store: a preset keeps only the fields of its dialect. */
export function contentOf({ base, config, prompt }: Draft): VersionContent {
  const kept = membersOf(config).filter(
    ({ key, text }) => keptFields[dialectOf(base)].includes(key) && text !== "null",
  );
  return { ...base, config: objectFrom(kept), prompt: prompt || null };
}

/** Returns whether the browser had room for the draft. */
export function storeDraft(workspace: SessionWorkspace, slug: string, draft: Draft): boolean {
  return store(nameOf(workspace, slug, draft.base.version), draft);
}

export function deleteDraft(workspace: SessionWorkspace, slug: string, from: number): void {
  deleteStored(nameOf(workspace, slug, from));
}
