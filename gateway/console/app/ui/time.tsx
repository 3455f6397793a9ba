import { signal } from "@preact/signals";
import { relativeTime } from "./relative-time.ts";

const ticked = signal(Date.now());
setInterval(() => {
  ticked.value = Date.now();
}, 20_000);

/** The time for texts that must stay up to date: a component that reads it is rendered again as time passes. */
export function nowMs(): number {
  // A response that has just arrived may be newer than the last tick.
  return Math.max(ticked.value, Date.now());
}

const exact = new Intl.DateTimeFormat("en", { dateStyle: "full", timeStyle: "long" });
/** Short enough for the columns of a list. */
const short = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" });

interface TimeProps {
  readonly at: string;
  /** How the time is put into words. */
  readonly inWords?: (iso: string, nowMs: number) => string;
}

/** On paper it is a date, because "just now" would soon be wrong. */
export function Time({ at, inWords = relativeTime }: TimeProps) {
  const moment = new Date(at);
  return (
    <time dateTime={at} title={exact.format(moment)}>
      <span class="only-screen">{inWords(at, nowMs())}</span>
      <span class="only-paper">{short.format(moment)}</span>
    </time>
  );
}
