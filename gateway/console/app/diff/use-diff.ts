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

/** The only script URL that is created here is that of the worker, which the build provides. */
const scriptUrls: ScriptUrls = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy(
  "setpoint-worker",
  { createScriptURL: (url) => url },
) ?? { createScriptURL: (url) => url };

/**
 * Compares each pair in a worker, so that the page never freezes. Undefined until that is done; "not loaded" if the
 * worker could not be loaded. `pairs` must be the same object as long as its contents are the same.
 */
export function useDiff(pairs: readonly DiffPair[]): readonly LineDiff[] | "not loaded" | undefined {
  const [answer, setAnswer] = useState<{ pairs: readonly DiffPair[]; diffs: readonly LineDiff[] }>();
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    if (pairs.length === 0) return;
    const worker = new Worker(scriptUrls.createScriptURL(workerUrl), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<readonly LineDiff[]>) => {
      setAnswer({ pairs, diffs: data });
      worker.terminate();
    });
    worker.addEventListener("error", () => setFailed(true));
    worker.postMessage(pairs);
    return () => worker.terminate();
  }, [pairs]);
  if (hasFailed) return "not loaded";
  return answer?.pairs === pairs ? answer.diffs : undefined;
}
