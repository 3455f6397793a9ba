import { keptFields } from "../../api/kept-fields.ts";
import { dialectOf, type VersionContent } from "../../api/presets.ts";
import type { SessionWorkspace } from "../../api/types.ts";
import { membersOf, objectFrom } from "../../json/json-pieces.ts";
import { dropKept, findKept, keep } from "../../shell/tab-storage.ts";

/** What somebody is about to make of a version. It outlives a reload, and no answer of the API changes it. */
export interface Draft {
  /** The version that it began with. */
  readonly base: VersionContent;
  /** What was served when it began: what colleagues change is told by this. */
  readonly ancestor: VersionContent;
  readonly etag: string | undefined;
  readonly config: string;
  readonly prompt: string;
  /** The last body that was sent, with its key: sent again, it makes no second version. */
  readonly sent?: { readonly body: string; readonly idempotencyKey: string };
}

function nameOf(workspace: SessionWorkspace, slug: string, from: number): string {
  return `setpoint-draft/${workspace.id}/${slug}/${from}`;
}

export function findDraft(workspace: SessionWorkspace, slug: string, from: number): Draft | undefined {
  return findKept(nameOf(workspace, slug, from));
}

/** What would become of a draft as it is: a preset keeps the fields of its dialect alone. */
export function contentOf({ base, config, prompt }: Draft): VersionContent {
  const kept = membersOf(config).filter(
    ({ key, text }) => keptFields[dialectOf(base)].includes(key) && text !== "null",
  );
  return { ...base, config: objectFrom(kept), prompt: prompt || null };
}

/** Returns whether the browser had room for it. */
export function keepDraft(workspace: SessionWorkspace, slug: string, draft: Draft): boolean {
  return keep(nameOf(workspace, slug, draft.base.version), draft);
}

export function dropDraft(workspace: SessionWorkspace, slug: string, from: number): void {
  dropKept(nameOf(workspace, slug, from));
}
