let lastMs = Number.NaN;
let lastText = "";

/** ISO 8601, in UTC, with milliseconds. The times of one preset, and of lines of one moment, are mostly the same one: that is written once. */
export function isoTimeFrom(ms: number): string {
  if (ms !== lastMs) {
    lastText = new Date(ms).toISOString();
    lastMs = ms;
  }
  return lastText;
}
