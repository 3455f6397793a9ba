import { useRef, useState } from "preact/hooks";
import { ApiError, asApiError } from "../../api/api-error.ts";
import { creationBody, designatedVersion, dialectOf, presetPath, type VersionContent } from "../../api/presets.ts";
import { request } from "../../api/request.ts";
import type { ListPage, One, PresetChange, PresetWithVersion, SessionWorkspace } from "../../api/types.ts";
import { forgetAnswers } from "../../api/use-loaded.ts";
import { navigate } from "../../shell/location.ts";
import { presetHref } from "../../shell/preset-hrefs.ts";
import { showToast } from "../../shell/toasts.tsx";
import { archivedReason } from "./cannot-save.tsx";
import { type Draft, deleteDraft } from "./draft.ts";
import { droppedFieldsNote } from "./dropped-fields.tsx";
import type { mergeLines } from "./merge-lines.ts";
import { notifyAwayFrom } from "./notify-away-from.ts";

/** The state of the preset after somebody else changed it. */
export interface ConcurrentChange {
  readonly theirs: VersionContent;
  readonly etag: string | undefined;
  readonly lastChange: PresetChange | undefined;
  /** Undefined if it could not be loaded: then one chooses between two prompts as a whole. */
  readonly mergeLines: typeof mergeLines | undefined;
}

interface SaveParts {
  readonly workspace: SessionWorkspace;
  readonly slug: string;
  readonly draft: Draft;
  readonly keep: (draft: Draft) => void;
}

export interface Save {
  run(): void;
  readonly isBusy: boolean;
  readonly error: ApiError | undefined;
  /** Set if somebody else changed the preset since the draft was started: merge first. */
  readonly concurrentChange: ConcurrentChange | undefined;
  /** To be called when the draft changes: neither applies to the new one. */
  forgetError(): void;
}

/** Saves a draft as a new version, unless somebody else has changed the preset meanwhile. */
export function useSave({ workspace, slug, draft, keep }: SaveParts): Save {
  const [error, setError] = useState<ApiError>();
  const [concurrentChange, setConcurrentChange] = useState<ConcurrentChange>();
  const [isBusy, setBusy] = useState(false);
  const latest = useRef(draft);
  latest.current = draft;

  const create = async (): Promise<void> => {
    const dialect = dialectOf(draft.base);
    const body = creationBody(dialect, draft.config, draft.prompt);
    const idempotencyKey = draft.sent?.body === body ? draft.sent.idempotencyKey : crypto.randomUUID();
    keep({ ...draft, sent: { body, idempotencyKey } });
    const { pathname } = location;
    const { json } = await request<One<PresetWithVersion>>(presetPath(workspace, slug, `/${dialect}`), {
      method: "POST",
      body,
      headers: { "idempotency-key": idempotencyKey, ...(draft.etag ? { "if-match": draft.etag } : {}) },
    });
    const { version, config } = json.data.designated_version;
    forgetAnswers();
    // What was written since it was sent stays, and whoever has gone elsewhere is not called back.
    if (latest.current.config === draft.config && latest.current.prompt === draft.prompt) {
      deleteDraft(workspace, slug, draft.base.version);
      // In place of the review: Back would lead to one without changes.
      if (location.pathname === pathname) navigate(presetHref(workspace, slug), "replace");
    }
    const note = droppedFieldsNote(draft.config, config as object, dialect);
    showToast(`Saved as v${version}, which is served now.${note}`, undefined, presetPath(workspace, slug));
  };

  const loadConcurrentChange = async (): Promise<void> => {
    const [preset, log, lines] = await Promise.all([
      request<One<PresetWithVersion>>(presetPath(workspace, slug)),
      request<ListPage<PresetChange>>(presetPath(workspace, slug, "/changes?limit=1")),
      import("./merge-lines.ts").catch(() => undefined),
    ]);
    setConcurrentChange({
      theirs: designatedVersion(preset),
      etag: preset.etag,
      lastChange: log.json.data[0],
      mergeLines: lines?.mergeLines,
    });
  };

  const showArchived = async (refusal: ApiError): Promise<void> => {
    const { json } = await request<One<PresetWithVersion>>(presetPath(workspace, slug));
    if (json.data.status !== "archived") throw refusal;
    throw new ApiError(409, `${archivedReason} Your draft stays here meanwhile.`, [], refusal.requestId);
  };

  const run = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    const { href } = location;
    try {
      await create().catch((thrown: unknown) => {
        notifyAwayFrom(href, `The new version of ${slug}`, "saved", asApiError(thrown));
        if (thrown instanceof ApiError && thrown.status === 412) return loadConcurrentChange();
        if (thrown instanceof ApiError && thrown.status === 409) return showArchived(thrown);
        throw thrown;
      });
    } catch (thrown) {
      setError(asApiError(thrown));
    }
    setBusy(false);
  };
  const forgetError = (): void => {
    setError(undefined);
    setConcurrentChange(undefined);
  };
  return { run: () => void run(), error, concurrentChange, isBusy, forgetError };
}
