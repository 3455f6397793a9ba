import { signal } from "@preact/signals";

const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, 20_000);

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const exact = new Intl.DateTimeFormat("en", { dateStyle: "full", timeStyle: "long" });
const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** How long ago, or how long until then, in words. */
export function relativeTime(iso: string, nowMs: number): string {
  const seconds = (Date.parse(iso) - nowMs) / 1_000;
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  }
  return seconds > 0 ? "in less than a minute" : "just now";
}

export function Time({ at }: { readonly at: string }) {
  // An answer that has just come is younger than the clock that ticks here.
  return (
    <time dateTime={at} title={exact.format(new Date(at))}>
      {relativeTime(at, Math.max(now.value, Date.now()))}
    </time>
  );
}
