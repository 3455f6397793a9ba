import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../api/api-error.ts";
import { designatedVersion, presetPath, versionContent } from "../api/presets.ts";
import { type Answer, request } from "../api/request.ts";
import { reasonNotTo } from "../api/session.ts";
import type { One, PresetVersion, PresetWithVersion, ResolvedRequest } from "../api/types.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { announce } from "../shell/announcer.tsx";
import { Page } from "../shell/page.tsx";
import { presetHref, presetsHref } from "../shell/preset-hrefs.ts";
import { ActionButton } from "../ui/action-button.tsx";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { submitByKey } from "../ui/submit-key.ts";
import type { PresetScreenProps } from "./screen-props.ts";
import { findMessage, keepMessage } from "./try/kept-message.ts";
import { ResolvedView } from "./try/resolved-view.tsx";
import { type StreamedAnswer, streamAnswer } from "./try/stream-answer.ts";
import { trialBody } from "./try/trial-body.ts";

/** What a preset makes of a request, and what a model answers to it. */
export function Try({ workspace, query, slug }: PresetScreenProps) {
  const pinned = Number(query.get("v")) || undefined;
  const preset = useLoaded<One<PresetWithVersion>>(presetPath(workspace, slug));
  const version = useLoaded<One<PresetVersion>>(
    pinned === undefined ? undefined : presetPath(workspace, slug, `/versions/${pinned}`),
  );
  const served = preset.answer && designatedVersion(preset.answer);
  const content = pinned === undefined ? served : version.answer && versionContent(version.answer);
  const loadError = preset.error ?? version.error;

  const [message, setMessage] = useState(() => findMessage(workspace, slug));
  const [resolved, setResolved] = useState<Answer<One<ResolvedRequest>>>();
  const [answer, setAnswer] = useState<StreamedAnswer>();
  const [error, setError] = useState<ApiError>();
  const [busyWith, setBusyWith] = useState<"resolve" | "send">();
  const abort = useRef<AbortController>(undefined);
  // Whoever leaves does not read on, and a model is paid by the word.
  useEffect(() => () => abort.current?.abort(), []);

  const work = async (what: "resolve" | "send", run: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    const controller = new AbortController();
    abort.current = controller;
    setBusyWith(what);
    setError(undefined);
    try {
      await run(controller.signal);
    } catch (thrown) {
      if (!controller.signal.aborted) setError(asApiError(thrown));
    }
    setBusyWith(undefined);
  };
  const resolve = (): Promise<void> =>
    work("resolve", async (signal) => {
      if (!content) return;
      const dialect = content.dialect ?? "chat/completions";
      const pin = pinned === undefined ? "" : `?version=${pinned}`;
      const path = presetPath(workspace, slug, `/resolve/${dialect}${pin}`);
      setResolved(await request(path, { method: "POST", body: trialBody(content, message), signal }));
      announce("The merged request is shown.");
    });
  const sendMessage = (): Promise<void> =>
    work("send", async (signal) => {
      if (!content) return;
      const model = pinned === undefined ? `@preset/${slug}` : `@preset/${slug}@${pinned}`;
      setAnswer(undefined);
      await streamAnswer({
        dialect: content.dialect ?? "chat/completions",
        body: { ...trialBody(content, message), model, stream: true },
        signal,
        onProgress: setAnswer,
      });
      announce("The answer is complete.");
    });

  const name = pinned === undefined ? slug : `${slug} v${pinned}`;
  const sendReason = reasonNotTo("infer");
  const emptyReason = message.trim() === "" ? "Write a message first." : undefined;
  // One comes here for an answer, where one may have it.
  const sendButton = (
    <ActionButton
      key="send"
      isSubmit={!sendReason}
      class={sendReason ? "" : "primary"}
      reason={sendReason ?? emptyReason}
      isBusy={busyWith !== undefined || !content}
    >
      Send to the model
    </ActionButton>
  );
  const mergeButton = (
    <ActionButton
      key="merge"
      isSubmit={sendReason !== undefined}
      class={sendReason ? "primary" : ""}
      run={sendReason ? undefined : () => void resolve()}
      reason={emptyReason}
      isBusy={busyWith !== undefined || !content}
    >
      Show the merged request
    </ActionButton>
  );
  return (
    <Page
      title={`Try ${name}`}
      crumbs={[
        ["Presets", presetsHref(workspace)],
        [slug, presetHref(workspace, slug, { v: pinned })],
      ]}
    >
      {loadError && (
        <ErrorPanel
          error={loadError}
          title="The preset could not be loaded"
          retry={() => {
            preset.reload();
            version.reload();
          }}
        />
      )}
      <form
        class="panel"
        onKeyDown={submitByKey}
        onSubmit={(event) => {
          event.preventDefault();
          if (!emptyReason && content && !busyWith) void (sendReason ? resolve() : sendMessage());
        }}
      >
        <div class="panel-head">
          <label class="panel-title" for="message">
            Message
          </label>
          <span class="muted small steady-line">
            {content && (
              <>
                v{content.version}, <code>{content.dialect ?? "chat/completions"}</code>
              </>
            )}
          </span>
        </div>
        <textarea
          id="message"
          class="prompt-field"
          rows={4}
          placeholder="What somebody would ask"
          value={message}
          onInput={(event) => {
            setMessage(event.currentTarget.value);
            keepMessage(workspace, slug, event.currentTarget.value);
          }}
        />
        <div class="panel-foot row edit-actions">
          {sendReason && <span class="edit-note muted small">{sendReason}</span>}
          <span class="row edit-actions">
            {busyWith === "send" && (
              <button type="button" class="button" onClick={() => abort.current?.abort()}>
                Stop
              </button>
            )}
            {sendReason ? [sendButton, mergeButton] : [mergeButton, sendButton]}
          </span>
        </div>
      </form>
      {error && <ErrorPanel error={error} title="That did not work" />}
      {answer && (
        <section class="panel" aria-labelledby="answer-title" aria-busy={busyWith === "send"}>
          <div class="panel-head">
            <h2 id="answer-title">Answer</h2>
            <span class="muted small">
              {answer.preset} {answer.upstream && <>by {answer.upstream}</>}
            </span>
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
          <section class="text-block" tabIndex={0} aria-label="Answer of the model">
            {answer.text}
            {busyWith === "send" && <span class="pulse" aria-hidden="true" />}
          </section>
        </section>
      )}
      {resolved && <ResolvedView answer={resolved} />}
    </Page>
  );
}
