import type { Dialect, SessionWorkspace } from "../../api/types.ts";

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

/** Whether nothing of its content was written by hand. */
export function isUntouched({ slug, dialect, config, prompt }: NewDraft): boolean {
  return prompt === "" && config === newDraft(slug, dialect).config;
}

function nameOf(workspace: SessionWorkspace): string {
  // No slug begins so: the drafts of versions have other names.
  return `setpoint-draft/${workspace.id}/~new`;
}

export function findNewDraft(workspace: SessionWorkspace): NewDraft | undefined {
  const text = sessionStorage.getItem(nameOf(workspace));
  return text === null ? undefined : (JSON.parse(text) as NewDraft);
}

export function keepNewDraft(workspace: SessionWorkspace, draft: NewDraft): void {
  try {
    sessionStorage.setItem(nameOf(workspace), JSON.stringify(draft));
  } catch {
    // Too large for the browser: it lives as long as the page.
  }
}

export function dropNewDraft(workspace: SessionWorkspace): void {
  sessionStorage.removeItem(nameOf(workspace));
}
