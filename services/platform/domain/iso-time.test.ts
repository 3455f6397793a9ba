import { expect, it } from "vitest";
import { isoTimeFrom } from "./iso-time.ts";

it("formats each time correctly, even repeatedly", () => {
  const times = [0, 0, 1_763_216_079_351, 1_763_216_079_352, 1_763_216_079_351, -1, -1_000, -999, 999, 1_000];
  expect(times.map(isoTimeFrom)).toEqual(times.map((ms) => new Date(ms).toISOString()));
});
