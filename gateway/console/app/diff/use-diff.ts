import { useEffect, useState } from "preact/hooks";
import workerUrl from "./diff-worker.ts?worker&url";
import type { LineDiff } from "./line-diff.ts";

export interface DiffPair {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

interface ScriptUrls {
  createScriptURL(url: string): string;
}

interface TrustedTypes {
  createPolicy(name: string, rules: ScriptUrls): ScriptUrls;
}

/** The only script address that is made here: that of the worker, which the build knows. */
const scriptUrls: ScriptUrls = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy(
  "setpoint-worker",
  { createScriptURL: (url) => url },
) ?? { createScriptURL: (url) => url };

/**
 * The differences of each pair, found beside the page so that it never stands still; undefined until then.
 * `pairs` must be the same object as long as it says the same.
 */
export function useDiff(pairs: readonly DiffPair[] | undefined): readonly LineDiff[] | undefined {
  const [answer, setAnswer] = useState<{ pairs: readonly DiffPair[]; diffs: readonly LineDiff[] }>();
  useEffect(() => {
    if (!pairs) return;
    const worker = new Worker(scriptUrls.createScriptURL(workerUrl), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<readonly LineDiff[]>) => {
      setAnswer({ pairs, diffs: data });
      worker.terminate();
    });
    worker.postMessage(pairs);
    return () => worker.terminate();
  }, [pairs]);
  return answer?.pairs === pairs ? answer?.diffs : undefined;
}
