import { diffLines } from "./line-diff.ts";
import type { DiffAnswer, DiffQuestion } from "./use-diff.ts";

/** All of a comparison together. */
const timeoutMs = 1_500;

addEventListener("message", ({ data }: MessageEvent<DiffQuestion>) => {
  const answer: DiffAnswer = {
    id: data.id,
    diffs: data.pairs.map(({ from, to }) => diffLines(from, to, timeoutMs / data.pairs.length)),
  };
  postMessage(answer);
});
