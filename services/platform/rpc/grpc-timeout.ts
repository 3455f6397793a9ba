const msByUnit = new Map([
  ["H", 3_600_000],
  ["M", 60_000],
  ["S", 1_000],
  ["m", 1],
  ["u", 0.001],
  ["n", 0.000_001],
]);

/** No call takes this long, and timers cannot count much further. */
export const timeoutMaxMs = 24 * 3_600_000;

/** What `grpc-timeout` says, in whole milliseconds; undefined if that is no timeout. */
export function timeoutMsFrom(text: string): number | undefined {
  const { value, unit } = /^(?<value>\d{1,8})(?<unit>[HMSmun])$/.exec(text)?.groups ?? {};
  const unitMs = unit && msByUnit.get(unit);
  return unitMs ? Math.min(timeoutMaxMs, Math.ceil(Number(value) * unitMs)) : undefined;
}
