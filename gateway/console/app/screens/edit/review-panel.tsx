import { useEffect } from "preact/hooks";
import { reasonForbidden } from "../../api/session.ts";
import { ContentDiff } from "../../diff/content-diff.tsx";
import { ActionButton } from "../../ui/action-button.tsx";
import { ActionFailed } from "../../ui/action-failed.tsx";
import { contentOf, type Draft } from "./draft.ts";
import { DroppedFields } from "./dropped-fields.tsx";
import type { Save } from "./use-save.ts";

interface ReviewPanelProps {
  readonly draft: Draft;
  /** Why the draft cannot be saved; undefined if it can. */
  readonly reason: string | undefined;
  readonly save: Save;
  readonly editorHref: string;
}

/** The differences between a draft and the served version, shown before it is saved. */
export function ReviewPanel({ draft, reason, save, editorHref }: ReviewPanelProps) {
  const { base, ancestor } = draft;
  const issueCount = save.error?.issues.length ?? 0;
  // Saving works from anywhere in the comparison, but an error is shown at its top.
  useEffect(() => {
    if (save.error) scrollTo(0, 0);
  }, [save.error]);
  return (
    <>
      <p>
        {reason ? (
          <>Nothing has changed since v{base.version}.</>
        ) : (
          <>
            What changes from <strong>v{ancestor.version}</strong>, which is served. The new version takes its place as
            soon as it is saved.
          </>
        )}
      </p>
      {save.error && (
        <ActionFailed
          error={save.error}
          done="saved"
          link={
            issueCount > 0 ? [`Show the ${issueCount === 1 ? "fault" : "faults"} in the editor`, editorHref] : undefined
          }
        />
      )}
      <DroppedFields draft={draft} />
      <ContentDiff from={ancestor} to={contentOf(draft)} isWhole={false} />
      <div class="row edit-actions is-in-reach">
        <a class="button" href={editorHref}>
          Back to editing
        </a>
        <ActionButton class="primary" run={save.run} isBusy={save.isBusy} reason={reasonForbidden("write") ?? reason}>
          {save.isBusy ? "Saving …" : "Save new version"}
        </ActionButton>
      </div>
    </>
  );
}
