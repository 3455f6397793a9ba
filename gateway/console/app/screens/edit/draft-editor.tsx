import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Issue } from "../../api/api-error.ts";
import { dialectOf } from "../../api/presets.ts";
import { reasonForbidden } from "../../api/session.ts";
import type { SessionWorkspace } from "../../api/types.ts";
import { navigate } from "../../shell/location.ts";
import { editHref, presetHref, tryHref } from "../../shell/preset-hrefs.ts";
import { ActionButton } from "../../ui/action-button.tsx";
import { ActionFailed } from "../../ui/action-failed.tsx";
import { focusHeading } from "../../ui/focus-heading.ts";
import { submitByKey } from "../../ui/submit-key.ts";
import { CannotSave } from "./cannot-save.tsx";
import { configFaultOf } from "./config-fault.ts";
import { ContentFields } from "./content-fields.tsx";
import { type Draft, deleteDraft, storeDraft } from "./draft.ts";
import { isChanged } from "./is-changed.ts";
import { MergePanel } from "./merge-panel.tsx";
import { ReviewPanel } from "./review-panel.tsx";
import { useSave } from "./use-save.ts";

interface DraftEditorProps {
  readonly start: Draft;
  /** Whether the draft was restored from an earlier visit. */
  readonly isKept: boolean;
  readonly workspace: SessionWorkspace;
  readonly slug: string;
  /** Whether the preset is known to be archived. That is not known of a restored draft. */
  readonly isArchived: boolean;
  readonly isReview: boolean;
  readonly startAnew: () => void;
}

// One object for every render, so that the editor is notified only when the issues differ.
const noIssues: readonly Issue[] = [];

/** A draft on its way to becoming a version: written, merged if a colleague saved first, reviewed, saved. */
export function DraftEditor(props: DraftEditorProps) {
  const { start, isKept, workspace, slug, isArchived, isReview, startAnew } = props;
  const [draft, setDraft] = useState(start);
  const [hasRoom, setRoom] = useState(true);
  const { base } = draft;
  const fault = useMemo(() => configFaultOf(draft.config), [draft.config]);
  const hasChanged = isChanged(draft);
  const unchanged = hasChanged ? undefined : "Nothing has changed yet.";
  const unready = fault ?? unchanged;
  // Saved at once rather than when the page is idle: a reload may come at any moment.
  const keep = (changed: Draft): void => {
    setDraft(changed);
    setRoom(storeDraft(workspace, slug, changed));
  };
  const save = useSave({ workspace, slug, draft, keep });

  const editorHref = editHref(workspace, slug, { from: base.version });
  const reviewHref = editHref(workspace, slug, { from: base.version, review: 1 });
  const edit = (change: Partial<Draft>): void => {
    keep({ ...draft, ...change });
    save.forgetError();
  };
  const discard = (): void => {
    deleteDraft(workspace, slug, base.version);
    startAnew();
    navigate(editorHref, "replace");
  };

  // Without this, after scrolling down a long editor one would land in the middle of the changes.
  const seen = useRef(isReview);
  useLayoutEffect(() => {
    scrollTo(0, 0);
    if (seen.current !== isReview) focusHeading();
    seen.current = isReview;
  }, [isReview]);

  if (isReview && save.concurrentChange) {
    const apply = (merged: Draft): void => {
      edit(merged);
      navigate(reviewHref, "replace");
    };
    return <MergePanel draft={draft} concurrentChange={save.concurrentChange} apply={apply} editorHref={editorHref} />;
  }
  if (isReview && fault === undefined)
    return <ReviewPanel draft={draft} reason={unchanged} save={save} editorHref={editorHref} />;
  return (
    <form
      class="stack"
      onKeyDown={submitByKey}
      onSubmit={(event) => {
        event.preventDefault();
        if (unready === undefined) navigate(reviewHref);
      }}
    >
      <CannotSave isArchived={isArchived} />
      {isKept && hasChanged && draft === start && (
        <div class="notice row">
          <p>This is your earlier draft; nothing was lost.</p>
          <button type="button" class="button small" onClick={discard}>
            Discard it and start over from v{base.version}
          </button>
        </div>
      )}
      {!hasRoom && <p class="fault">The draft is too large to be kept by the browser: a reload would lose it.</p>}
      {save.error && <ActionFailed error={save.error} done="saved" />}
      <ContentFields
        dialect={dialectOf(base)}
        prompt={draft.prompt}
        config={draft.config}
        configFault={fault}
        issues={save.error?.issues ?? noIssues}
        change={edit}
      />
      <div class="row edit-actions is-in-reach">
        <a class="button only-wide" href={presetHref(workspace, slug)}>
          Back to the preset
        </a>
        {/* A new version is served as soon as it is saved. This shows what it does before that. */}
        <ActionButton
          run={() => navigate(tryHref(workspace, slug, { draft: base.version }))}
          reason={reasonForbidden("infer") ?? unready ?? (hasRoom ? undefined : "The draft is too large to be kept.")}
        >
          Try the draft
        </ActionButton>
        <ActionButton isSubmit class="primary" reason={unready}>
          Review the changes
        </ActionButton>
      </div>
    </form>
  );
}
