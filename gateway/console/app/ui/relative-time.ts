const counted = new Intl.RelativeTimeFormat("en");
const named = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const daySeconds = 86_400;
const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 365 * daySeconds],
  ["month", 30 * daySeconds],
  ["week", 7 * daySeconds],
  ["day", daySeconds],
  ["hour", 3_600],
  ["minute", 60],
];

/** How long ago, or how long from now, in words. */
export function relativeTime(iso: string, nowMs: number): string {
  const seconds = (Date.parse(iso) - nowMs) / 1_000;
  for (const [unit, length] of units) {
    if (Math.abs(seconds) < length) continue;
    // 47 hours ago may be yesterday or the day before. Days have names, so calendar days are counted.
    if (unit === "day") return named.format(daysUntil(Date.parse(iso), nowMs), unit);
    return counted.format(Math.trunc(seconds / length), unit);
  }
  return seconds > 0 ? "in less than a minute" : "just now";
}

const weekdays = new Intl.DateTimeFormat("en", { weekday: "long", month: "long", day: "numeric" });
const dates = new Intl.DateTimeFormat("en", { dateStyle: "long" });

/** The day of a moment, as a heading. */
export function dayName(iso: string, nowMs: number): string {
  const moment = new Date(iso);
  const days = daysUntil(moment.getTime(), nowMs);
  const isThisYear = moment.getFullYear() === new Date(nowMs).getFullYear();
  const date = (isThisYear ? weekdays : dates).format(moment);
  if (days !== 0 && days !== -1) return date;
  return `${days === 0 ? "Today" : "Yesterday"}, ${date}`;
}

const clock = new Intl.DateTimeFormat("en", { timeStyle: "short" });

/** A moment below the heading of its day. After an hour it is the time, by which one finds what happened at ten. */
export function timeInDay(iso: string, nowMs: number): string {
  const moment = new Date(iso);
  return nowMs - moment.getTime() < 3_600_000 ? relativeTime(iso, nowMs) : clock.format(moment);
}

/** The number of midnights between now and then. Rounded, because a day may be an hour longer or shorter. */
function daysUntil(thenMs: number, nowMs: number): number {
  return Math.round((new Date(thenMs).setHours(0, 0, 0, 0) - new Date(nowMs).setHours(0, 0, 0, 0)) / 86_400_000);
}
