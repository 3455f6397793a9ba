import { useState } from "preact/hooks";
import { type ApiError, asApiError } from "./api-error.ts";
import { forgetAnswers } from "./use-loaded.ts";

export interface Action {
  readonly error: ApiError | undefined;
  readonly isBusy: boolean;
  /** Does something that changes what the API answers. Where it is refused, `error` says why. */
  run(work: () => Promise<void>): void;
}

export function useAction(): Action {
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const run = async (work: () => Promise<void>): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (thrown) {
      setError(asApiError(thrown));
    }
    forgetAnswers();
    setBusy(false);
  };
  return { error, isBusy, run: (work) => void run(work) };
}
