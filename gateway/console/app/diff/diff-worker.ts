import { diffLines } from "./line-diff.ts";
import type { DiffPair } from "./use-diff.ts";

/** For all pairs of one comparison together. */
const timeoutMs = 1_500;

addEventListener("message", ({ data: pairs }: MessageEvent<readonly DiffPair[]>) => {
  postMessage(pairs.map(({ from, to }) => diffLines(from, to, timeoutMs / pairs.length)));
});
