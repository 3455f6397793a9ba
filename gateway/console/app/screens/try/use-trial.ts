import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../../api/api-error.ts";
import { dialectOf, presetPath, type VersionContent } from "../../api/presets.ts";
import { type Answer, request } from "../../api/request.ts";
import type { One, ResolvedRequest, SessionWorkspace } from "../../api/types.ts";
import { announce } from "../../shell/announcer.tsx";
import { type StreamedAnswer, streamAnswer } from "./stream-answer.ts";
import { draftBody, trialBody } from "./trial-body.ts";

interface TrialParts {
  readonly workspace: SessionWorkspace;
  readonly slug: string;
  /** The version number that is asked for; undefined for whichever is served. */
  readonly pinned: number | undefined;
  /** Whether it is a draft, which no caller gets yet. */
  readonly isDraft: boolean;
}

export type Trial = ReturnType<typeof useTrial>;

/** Tries a preset with a message: resolves the merged request, or sends it to a model. One at a time. */
export function useTrial({ workspace, slug, pinned, isDraft }: TrialParts) {
  const [resolved, setResolved] = useState<Answer<One<ResolvedRequest>>>();
  const [answer, setAnswer] = useState<StreamedAnswer>();
  const [error, setError] = useState<ApiError>();
  const [asked, setAsked] = useState<"resolve" | "send">();
  const [isBusy, setBusy] = useState(false);
  const [isAnswerStopped, setAnswerStopped] = useState(false);
  const abort = useRef<AbortController>(undefined);
  // Nobody reads the rest of the answer after leaving, and models are paid by the token.
  useEffect(() => () => abort.current?.abort(), []);

  const work = async (what: "resolve" | "send", run: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    const controller = new AbortController();
    abort.current = controller;
    setAsked(what);
    setBusy(true);
    setError(undefined);
    try {
      await run(controller.signal);
    } catch (thrown) {
      if (!controller.signal.aborted) setError(asApiError(thrown));
    }
    setBusy(false);
  };
  const resolve = (content: VersionContent, message: string): void =>
    void work("resolve", async (signal) => {
      const pin = pinned === undefined ? "" : `?version=${pinned}`;
      const path = presetPath(workspace, slug, `/resolve/${dialectOf(content)}${pin}`);
      setResolved(await request(path, { method: "POST", body: trialBody(content, message), signal }));
      announce("The merged request is shown.");
    });
  const send = (content: VersionContent, message: string): void =>
    void work("send", async (signal) => {
      const model = pinned === undefined ? `@preset/${slug}` : `@preset/${slug}@${pinned}`;
      setAnswer(undefined);
      setAnswerStopped(false);
      await streamAnswer({
        dialect: dialectOf(content),
        body: isDraft ? draftBody(content, message) : { ...trialBody(content, message), model, stream: true },
        signal,
        onProgress: setAnswer,
      });
      announce("The answer is complete.");
    });
  return {
    resolve,
    send,
    stop: () => {
      abort.current?.abort();
      setAnswerStopped(true);
      announce("Stopped.");
    },
    resolved,
    answer,
    isAnswerStopped,
    error,
    /** What was requested last. */
    asked,
    busyWith: isBusy ? asked : undefined,
  };
}
