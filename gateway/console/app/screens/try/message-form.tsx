import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { dialectOf } from "../../api/presets.ts";
import { reasonForbidden } from "../../api/session.ts";
import type { SessionWorkspace } from "../../api/types.ts";
import { editHref } from "../../shell/preset-hrefs.ts";
import { ActionButton } from "../../ui/action-button.tsx";
import { submitByKey } from "../../ui/submit-key.ts";
import { findMessage, storeMessage } from "./stored-message.ts";
import type { Trial } from "./use-trial.ts";
import type { Tried } from "./use-tried.ts";

interface MessageFormProps {
  readonly workspace: SessionWorkspace;
  readonly slug: string;
  readonly tried: Tried;
  readonly trial: Trial;
}

/** The message to try something with, and what can be done with it. */
export function MessageForm({ workspace, slug, tried, trial }: MessageFormProps) {
  const { content, draftFrom } = tried;
  const isDraft = draftFrom !== undefined;
  const [message, setMessage] = useState(() => findMessage(workspace, slug));
  const form = useRef<HTMLFormElement>(null);
  // The Stop button is gone by then, and keyboard users must not start again at the top of the page.
  useEffect(() => {
    if (!trial.asked || trial.busyWith || document.activeElement !== document.body) return;
    form.current?.querySelector<HTMLElement>("[type=submit]")?.focus({ preventScroll: true });
  }, [trial.busyWith]);

  const sendReason = reasonForbidden("infer");
  const unready = reasonUnready(tried, message);
  const submit = (): void => {
    if (unready || !content || trial.busyWith) return;
    if (!sendReason) trial.send(content, message);
    else if (!isDraft) trial.resolve(content, message);
  };
  const isPaused = trial.busyWith !== undefined || !content;
  // An answer is what one comes here for, so that is the main action if it is permitted.
  const sendButton = (
    <ActionButton
      key="send"
      isSubmit={!sendReason}
      class={sendReason ? "" : "primary"}
      reason={sendReason ?? unready}
      isBusy={trial.busyWith === "send"}
      isPaused={isPaused}
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
      isPaused={isPaused}
    >
      Show the merged request
    </ActionButton>
  );
  const backLink = (
    <a key="back" class="button" href={editHref(workspace, slug, { from: draftFrom })}>
      Back to editing
    </a>
  );
  // The main one comes last.
  const actions: readonly ComponentChildren[] = sendReason ? [sendButton, mergeButton] : [mergeButton, sendButton];
  return (
    <form
      class="panel"
      ref={form}
      onKeyDown={submitByKey}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <div class="panel-head">
        <label class="panel-title" for="message">
          Message
        </label>
        <span class="muted small">
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
          {trial.busyWith === "send" && (
            <button type="button" class="button" onClick={trial.stop}>
              Stop
            </button>
          )}
          {isDraft ? [backLink, sendButton] : actions}
        </span>
      </div>
    </form>
  );
}

/** Why a message cannot be sent or merged; undefined if it can. */
function reasonUnready({ presetError, versionError, offStatus }: Tried, message: string): string | undefined {
  if (presetError ?? versionError) return "It could not be loaded.";
  if (offStatus !== undefined) return `It is ${offStatus}: make it active first.`;
  return message.trim() === "" ? "Write a message first." : undefined;
}
