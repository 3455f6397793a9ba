import type { StreamedAnswer } from "./stream-answer.ts";

interface AnswerViewProps {
  readonly answer: StreamedAnswer;
  /** Whether there is more to come. */
  readonly isStreaming: boolean;
  /** Whether it was stopped before its end. */
  readonly isStopped: boolean;
}

/** The answer of a model, as it streams in. */
export function AnswerView({ answer, isStreaming, isStopped }: AnswerViewProps) {
  return (
    <section class="panel" aria-labelledby="answer-title" aria-busy={isStreaming}>
      <div class="panel-head">
        <span class="row">
          <h2 id="answer-title">Answer</h2>
          {isStopped && <span class="badge warn">Stopped</span>}
        </span>
        <span class="muted small">
          {answer.preset ?? "draft"} {answer.upstream && <>by {answer.upstream}</>}
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      <section class="text-block" tabIndex={0} aria-label="The model’s answer">
        {answer.text}
        {isStreaming && <span class="pulse" aria-hidden="true" />}
      </section>
    </section>
  );
}
