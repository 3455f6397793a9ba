import { expect, it } from "vitest";
import { LockedPresets } from "./locked-presets.ts";

const preset = (n: number) => ({ workspaceId: "w", slug: `p-${n}` });

it("forgets the preset that was locked the longest ago rather than grow forever", () => {
  const locked = new LockedPresets();
  locked.add(preset(0));
  locked.add(preset(1));
  // Found locked again.
  locked.add(preset(0));
  for (let n = 2; n <= 1_000; n += 1) locked.add(preset(n));
  expect([0, 1, 2, 1_000].filter((n) => locked.has(preset(n)))).toEqual([0, 2, 1_000]);
});
