/**
 * Writes times as ISO 8601, in UTC, with milliseconds. Consecutive times are mostly the same, as within one preset, or
 * within the same second, as in log lines: the common part is cached.
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
