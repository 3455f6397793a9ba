import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ApiError } from "../api/api-error.ts";
import { designatedVersion, dialectOf, presetPath, versionContent } from "../api/presets.ts";
import { reasonForbidden } from "../api/session.ts";
import type { One, PresetVersion, PresetWithVersion } from "../api/types.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { Page } from "../shell/page.tsx";
import { editHref, presetHref, presetsHref } from "../shell/preset-hrefs.ts";
import { ActionButton } from "../ui/action-button.tsx";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { submitByKey } from "../ui/submit-key.ts";
import { configFaultOf } from "./edit/config-fault.ts";
import { contentOf, findDraft } from "./edit/draft.ts";
import { DroppedFields } from "./edit/dropped-fields.tsx";
import { NotLoadable } from "./preset/not-loadable.tsx";
import type { PresetScreenProps } from "./screen-props.ts";
import { AnswerView } from "./try/answer-view.tsx";
import { RefusalMessage } from "./try/refusal-message.tsx";
import { ResolvedView } from "./try/resolved-view.tsx";
import { findMessage, storeMessage } from "./try/stored-message.ts";
import { useTrial } from "./try/use-trial.ts";

/**
 * Shows the request that a preset produces, and what a model answers to it. Also works for a draft, which no caller
 * gets yet.
 */
export function Try({ workspace, query, slug }: PresetScreenProps) {
  const pinned = Number(query.get("v")) || undefined;
  const draftFrom = Number(query.get("draft")) || undefined;
  const isDraft = draftFrom !== undefined;
  const draft = useMemo(() => (isDraft ? findDraft(workspace, slug, draftFrom) : undefined), [draftFrom]);
  const preset = useLoaded<One<PresetWithVersion>>(isDraft ? undefined : presetPath(workspace, slug));
  const version = useLoaded<One<PresetVersion>>(
    pinned === undefined ? undefined : presetPath(workspace, slug, `/versions/${pinned}`),
  );
  const served = preset.answer && designatedVersion(preset.answer);
  const saved = pinned === undefined ? served : version.answer && versionContent(version.answer);
  const draftFault = draft && configFaultOf(draft.config);
  const tried = draft && !draftFault ? contentOf(draft) : undefined;
  const content = isDraft ? tried : saved;
  const [message, setMessage] = useState(() => findMessage(workspace, slug));
  const trial = useTrial({ workspace, slug, pinned, isDraft });
  const status = isDraft ? undefined : preset.answer?.json.data.status;
  const isOff = status !== undefined && status !== "active";
  // The preset may have been disabled or archived since it was loaded.
  const isRefused = !isDraft && trial.error?.status === 409;
  useEffect(() => {
    if (isRefused) preset.reload();
  }, [isRefused]);

  const form = useRef<HTMLFormElement>(null);
  // The Stop button is gone by then, and keyboard users must not start again at the top of the page.
  useEffect(() => {
    if (!trial.asked || trial.busyWith || document.activeElement !== document.body) return;
    form.current?.querySelector<HTMLElement>("[type=submit]")?.focus({ preventScroll: true });
  }, [trial.busyWith]);

  const name = isDraft ? `a draft of ${slug}` : pinned === undefined ? slug : `${slug} v${pinned}`;
  const draftHref = editHref(workspace, slug, { from: draftFrom });
  const sendReason = reasonForbidden("infer");
  const notLoaded = preset.error ?? version.error;
  const unready = notLoaded
    ? "It could not be loaded."
    : isOff
      ? `It is ${status}: make it active first.`
      : message.trim() === ""
        ? "Write a message first."
        : undefined;
  const isBusy = trial.busyWith !== undefined || !content;
  const isSending = trial.busyWith === "send";
  // An answer is what one comes here for, so that is the main action if it is permitted.
  const sendButton = (
    <ActionButton
      key="send"
      isSubmit={!sendReason}
      class={sendReason ? "" : "primary"}
      reason={sendReason ?? unready}
      isBusy={isSending}
      isPaused={isBusy}
    >
      Send to the model
    </ActionButton>
  );
  const mergeButton = (
    <ActionButton
      key="merge"
      isSubmit={sendReason !== undefined}
      class={sendReason ? "primary" : ""}
      run={sendReason || !content ? undefined : () => trial.resolve(content, message)}
      reason={unready}
      isBusy={trial.busyWith === "resolve"}
      isPaused={isBusy}
    >
      Show the merged request
    </ActionButton>
  );
  const backLink = (
    <a key="back" class="button" href={draftHref}>
      Back to editing
    </a>
  );
  const answered = trial.answer ? (
    <AnswerView key="answer" answer={trial.answer} isStreaming={isSending} isStopped={trial.isAnswerStopped} />
  ) : (
    isSending && (
      <p key="waiting" class="panel panel-body muted" role="status">
        <span class="pulse" aria-hidden="true" /> Waiting for the model …
      </p>
    )
  );
  const hasResult = answered || trial.resolved || trial.error || notLoaded || isOff;
  const merged = trial.resolved && <ResolvedView key="merged" answer={trial.resolved} />;
  return (
    <Page
      title={`Try ${name}`}
      crumbs={[
        ["Presets", presetsHref(workspace)],
        [slug, presetHref(workspace, slug, { v: pinned })],
        ...(isDraft ? [[`New version from v${draftFrom}`, draftHref] as const] : []),
      ]}
    >
      {isDraft && !draft && (
        <p class="notice">
          There is no draft from v{draftFrom} in this tab. A draft is kept only in the tab that it was written in.
        </p>
      )}
      {draftFault && <p class="notice wrap">{draftFault} Go back to editing to correct it.</p>}
      {draft && !draftFault && <DroppedFields draft={draft} />}
      <div class="try-columns">
        <form
          class="panel"
          ref={form}
          onKeyDown={submitByKey}
          onSubmit={(event) => {
            event.preventDefault();
            if (unready || !content || trial.busyWith) return;
            if (!sendReason) trial.send(content, message);
            else if (!isDraft) trial.resolve(content, message);
          }}
        >
          <div class="panel-head">
            <label class="panel-title" for="message">
              Message
            </label>
            <span class="muted small steady-line">
              {content && (
                <>
                  {isDraft && "draft from "}v{content.version}, <code>{dialectOf(content)}</code>
                </>
              )}
            </span>
          </div>
          <textarea
            id="message"
            class="prompt-field"
            rows={4}
            placeholder="What a user would ask"
            value={message}
            onInput={(event) => {
              setMessage(event.currentTarget.value);
              storeMessage(workspace, slug, event.currentTarget.value);
            }}
          />
          <div class="panel-foot row edit-actions">
            {sendReason && <span class="edit-note muted small">{sendReason}</span>}
            <span class="row edit-actions">
              {isSending && (
                <button type="button" class="button" onClick={trial.stop}>
                  Stop
                </button>
              )}
              {isDraft ? [backLink, sendButton] : sendReason ? [sendButton, mergeButton] : [mergeButton, sendButton]}
            </span>
          </div>
        </form>
        <div class="stack">
          {/* What is known only later comes after the form, which must not move. */}
          <NotLoadable
            workspace={workspace}
            slug={slug}
            version={pinned}
            presetError={preset.error}
            versionError={version.error}
            retry={() => {
              preset.reload();
              version.reload();
            }}
          />
          {isOff && (
            <div class="notice">
              <p>
                It is {status}, and requests that name it are refused. Make it active first, in the settings of{" "}
                <a href={presetHref(workspace, slug)}>the preset</a>.
              </p>
            </div>
          )}
          {trial.error && !(isOff && isRefused) && (
            <ErrorPanel error={trial.error} title={whatFailed(trial.error)}>
              {trial.error.issues.length <= 1 && (
                <RefusalMessage
                  error={trial.error}
                  editorHref={isDraft ? draftHref : editHref(workspace, slug, { from: content?.version })}
                />
              )}
            </ErrorPanel>
          )}
          {/* The last result comes first, however long the other one is. */}
          {trial.asked === "resolve" ? [merged, answered] : [answered, merged]}
          {!hasResult && <p class="panel try-empty">The result is shown here.</p>}
        </div>
      </div>
    </Page>
  );
}

/** Whoever reads of an API key or of a limit must know whose it is. */
function whatFailed({ upstream, status }: ApiError): string {
  return upstream === undefined ? "The request failed" : `The upstream ${upstream} answered with status ${status}`;
}
