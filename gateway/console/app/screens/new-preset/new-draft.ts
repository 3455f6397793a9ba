import { dialectOf, type VersionContent } from "../../api/presets.ts";
import type { Dialect, SessionWorkspace } from "../../api/types.ts";
import { indented } from "../../json/json-pieces.ts";
import { newPresetPart } from "../../shell/preset-hrefs.ts";
import { dropKept, findKept, keep } from "../../shell/tab-storage.ts";

/** What somebody is about to make a preset of. It outlives a reload. */
export interface NewDraft {
  readonly slug: string;
  readonly dialect: Dialect;
  readonly config: string;
  readonly prompt: string;
  /** The last request that was sent, with its key: sent again, it makes no second version. */
  readonly sent?: { readonly request: string; readonly idempotencyKey: string };
}

/** What a request of each dialect begins with. The model is the one that every first start serves. */
const configs: Readonly<Record<Dialect, object>> = {
  "chat/completions": { model: "echo/small", temperature: 0.2 },
  messages: { model: "echo/small", max_tokens: 1000, temperature: 0.2 },
  responses: { model: "echo/small", max_output_tokens: 1000, temperature: 0.2 },
};

export function newDraft(slug: string, dialect: Dialect = "chat/completions"): NewDraft {
  return { slug, dialect, config: JSON.stringify(configs[dialect], null, 2), prompt: "" };
}

/** A copy of a version; what it is to be called is only a proposal. */
export function draftLike(slug: string, content: VersionContent): NewDraft {
  return {
    slug: `${slug.slice(0, 123)}-copy`,
    dialect: dialectOf(content),
    config: indented(content.config),
    prompt: content.prompt ?? "",
  };
}

/** Whether nothing of its content was written by hand. */
export function isUntouched({ slug, dialect, config, prompt }: NewDraft): boolean {
  return prompt === "" && config === newDraft(slug, dialect).config;
}

/** Where a draft is kept. A copy has one of its own: it takes the place of nothing else that was written. */
export interface DraftPlace {
  readonly workspace: SessionWorkspace;
  /** The version that it is a copy of, such as `support-reply@3`; empty: of none. */
  readonly like: string;
}

function nameOf({ workspace, like }: DraftPlace): string {
  // Where the drafts of versions have a slug.
  return `setpoint-draft/${workspace.id}/${newPresetPart}/${like}`;
}

export function findNewDraft(place: DraftPlace): NewDraft | undefined {
  return findKept(nameOf(place));
}

export function keepNewDraft(place: DraftPlace, draft: NewDraft): void {
  keep(nameOf(place), draft);
}

export function dropNewDraft(place: DraftPlace): void {
  dropKept(nameOf(place));
}
