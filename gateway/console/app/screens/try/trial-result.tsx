import type { ApiError } from "../../api/api-error.ts";
import type { SessionWorkspace } from "../../api/types.ts";
import { editHref, presetHref } from "../../shell/preset-hrefs.ts";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { NotLoadable } from "../preset/not-loadable.tsx";
import { AnswerView } from "./answer-view.tsx";
import { RefusalMessage } from "./refusal-message.tsx";
import { ResolvedView } from "./resolved-view.tsx";
import type { Trial } from "./use-trial.ts";
import type { Tried } from "./use-tried.ts";

interface TrialResultProps {
  readonly workspace: SessionWorkspace;
  readonly slug: string;
  readonly tried: Tried;
  readonly trial: Trial;
}

/** What came of a trial: the answer, the merged request, or why there is none. */
export function TrialResult({ workspace, slug, tried, trial }: TrialResultProps) {
  const { pinned, draftFrom, content, offStatus, presetError, versionError, reload } = tried;
  const { error, resolved } = trial;
  const isOff = offStatus !== undefined;
  const answered = <Answered key="answer" trial={trial} />;
  const merged = resolved && <ResolvedView key="merged" answer={resolved} />;
  const isEmpty = !trial.answer && trial.busyWith !== "send" && !resolved;
  return (
    <div class="stack">
      <NotLoadable
        workspace={workspace}
        slug={slug}
        version={pinned}
        presetError={presetError}
        versionError={versionError}
        retry={reload}
      />
      {isOff && (
        <div class="notice">
          <p>
            It is {offStatus}, and requests that name it are refused. Make it active first, in the settings of{" "}
            <a href={presetHref(workspace, slug)}>the preset</a>.
          </p>
        </div>
      )}
      {error && !(isOff && error.status === 409) && (
        <ErrorPanel error={error} title={whatFailed(error)}>
          {error.issues.length <= 1 && (
            <RefusalMessage
              error={error}
              editorHref={editHref(workspace, slug, { from: draftFrom ?? content?.version })}
            />
          )}
        </ErrorPanel>
      )}
      {/* The last result comes first, however long the other one is. */}
      {trial.asked === "resolve" ? [merged, answered] : [answered, merged]}
      {isEmpty && !error && !presetError && !versionError && !isOff && (
        <p class="panel try-empty">The result is shown here.</p>
      )}
    </div>
  );
}

/** What the model has answered so far. */
function Answered({ trial }: Pick<TrialResultProps, "trial">) {
  const isSending = trial.busyWith === "send";
  if (trial.answer) {
    return <AnswerView answer={trial.answer} isStreaming={isSending} isStopped={trial.isAnswerStopped} />;
  }
  return isSending ? (
    <p class="panel panel-body muted" role="status">
      <span class="pulse" aria-hidden="true" /> Waiting for the model …
    </p>
  ) : null;
}

/** Whoever reads of an API key or of a limit must know whose it is. */
function whatFailed({ upstream, status }: ApiError): string {
  return upstream === undefined ? "The request failed" : `The upstream ${upstream} answered with status ${status}`;
}
