import { signal } from "@preact/signals";
import { relativeTime } from "./relative-time.ts";

const ticked = signal(Date.now());
setInterval(() => {
  ticked.value = Date.now();
}, 20_000);

/** The time, for words that are to stay true: who uses it is drawn again as time goes by. */
export function nowMs(): number {
  // An answer that has just come is younger than the clock that ticks here.
  return Math.max(ticked.value, Date.now());
}

const exact = new Intl.DateTimeFormat("en", { dateStyle: "full", timeStyle: "long" });

interface TimeProps {
  readonly at: string;
  /** How it is said. */
  readonly inWords?: (iso: string, nowMs: number) => string;
}

export function Time({ at, inWords = relativeTime }: TimeProps) {
  return (
    <time dateTime={at} title={exact.format(new Date(at))}>
      {inWords(at, nowMs())}
    </time>
  );
}
