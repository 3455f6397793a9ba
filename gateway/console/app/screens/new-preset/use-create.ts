import { useMemo, useRef, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../../api/api-error.ts";
import { creationBody, presetPath } from "../../api/presets.ts";
import { request } from "../../api/request.ts";
import type { One, PresetWithVersion, SessionWorkspace } from "../../api/types.ts";
import { forgetAnswers } from "../../api/use-loaded.ts";
import { navigate } from "../../shell/location.ts";
import { presetHref } from "../../shell/preset-hrefs.ts";
import { showToast } from "../../shell/toasts.tsx";
import { droppedFieldsNote } from "../edit/dropped-fields.tsx";
import { notifyAwayFrom } from "../edit/notify-away-from.ts";
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
  const latest = useRef(draft);
  latest.current = draft;

  const create = async (): Promise<void> => {
    const { slug, dialect } = draft;
    const { pathname } = location;
    const body = creationBody(dialect, draft.config, draft.prompt);
    const path = presetPath(target, slug, `/${dialect}`);
    const sent = `${path} ${body}`;
    const idempotencyKey = draft.sent?.request === sent ? draft.sent.idempotencyKey : crypto.randomUUID();
    keep({ ...draft, sent: { request: sent, idempotencyKey } });
    const headers = { "idempotency-key": idempotencyKey, "if-none-match": "*" };
    const { json } = await request<One<PresetWithVersion>>(path, { method: "POST", body, headers });
    const { config } = json.data.designated_version;
    forgetAnswers();
    // What was written since it was sent stays, and whoever has gone elsewhere is not called back.
    const isStored = isSameContent(latest.current, draft);
    if (isStored) deleteNewDraft(place);
    const isAway = !isStored || location.pathname !== pathname;
    const open = (): void => navigate(presetHref(target, slug));
    if (!isAway) open();
    const where = target.id === place.workspace.id ? "" : ` in ${target.name}`;
    showToast(
      `${slug} was created${where}, and serves v1.${droppedFieldsNote(draft.config, config as object, dialect)}`,
      isAway ? { label: "Open it", run: open } : undefined,
    );
  };

  const run = async (): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    setRefusal(undefined);
    const { href } = location;
    try {
      await create();
    } catch (thrown) {
      notifyAwayFrom(href, draft.slug, "created", asApiError(thrown));
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

function isSameContent(one: NewDraft, other: NewDraft): boolean {
  return (["slug", "dialect", "config", "prompt"] as const).every((field) => one[field] === other[field]);
}
