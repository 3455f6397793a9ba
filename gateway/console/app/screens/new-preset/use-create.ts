import { useMemo, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../../api/api-error.ts";
import { creationBody, presetPath } from "../../api/presets.ts";
import { request } from "../../api/request.ts";
import type { One, PresetWithVersion, SessionWorkspace } from "../../api/types.ts";
import { forgetAnswers } from "../../api/use-loaded.ts";
import { navigate } from "../../shell/location.ts";
import { presetHref } from "../../shell/preset-hrefs.ts";
import { showToast } from "../../shell/toasts.tsx";
import { droppedFieldsNote } from "../edit/dropped-fields.tsx";
import { type DraftPlace, deleteNewDraft, type NewDraft } from "./new-draft.ts";

interface CreateParts {
  readonly place: DraftPlace;
  /** Where it is created. */
  readonly target: SessionWorkspace;
  readonly draft: NewDraft;
  readonly keep: (draft: NewDraft) => void;
}

/** Creates a preset from a draft. It never adds a version to an existing preset. */
export function useCreate({ place, target, draft, keep }: CreateParts) {
  const [refusal, setRefusal] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);

  const create = async (): Promise<void> => {
    const { slug, dialect } = draft;
    const body = creationBody(dialect, draft.config, draft.prompt);
    const path = presetPath(target, slug, `/${dialect}`);
    const sent = `${path} ${body}`;
    const idempotencyKey = draft.sent?.request === sent ? draft.sent.idempotencyKey : crypto.randomUUID();
    keep({ ...draft, sent: { request: sent, idempotencyKey } });
    const headers = { "idempotency-key": idempotencyKey, "if-none-match": "*" };
    const { json } = await request<One<PresetWithVersion>>(path, { method: "POST", body, headers });
    const { config } = json.data.designated_version;
    deleteNewDraft(place);
    forgetAnswers();
    navigate(presetHref(target, slug));
    const where = target.id === place.workspace.id ? "" : ` in ${target.name}`;
    showToast(
      `${slug} was created${where}, and serves v1.${droppedFieldsNote(draft.config, config as object, dialect)}`,
    );
  };

  const run = async (): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    setRefusal(undefined);
    try {
      await create();
    } catch (thrown) {
      setRefusal(asApiError(thrown));
    }
    setBusy(false);
  };
  const isTaken = refusal?.status === 412;
  return {
    run: () => void run(),
    /** Whether a preset with this slug exists already. */
    isTaken,
    error: isTaken ? undefined : refusal,
    // The same array until the issues change, so that the editor is notified only then.
    contentIssues: useMemo(() => refusal?.issues ?? [], [refusal]),
    isBusy,
    forgetError: () => setRefusal(undefined),
  };
}
