/**
 * Writes times as ISO 8601, in UTC, with milliseconds. Those that are written one after the other are mostly the same, as
 * those of one preset, or of the same second, as those of the lines of a log: what they have in common is written once.
 */
export function isoTimeWriter(): (ms: number) => string {
  let lastMs = Number.NaN;
  let lastSecond = Number.NaN;
  let lastText = "";
  return (ms) => {
    if (ms === lastMs) return lastText;
    const second = Math.floor(ms / 1000);
    lastText =
      second === lastSecond
        ? `${lastText.slice(0, -4)}${String(ms - second * 1000).padStart(3, "0")}Z`
        : new Date(ms).toISOString();
    lastSecond = second;
    lastMs = ms;
    return lastText;
  };
}

export const isoTimeFrom = isoTimeWriter();
