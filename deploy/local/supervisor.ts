import { setTimeout as delay } from "node:timers/promises";
import type { BackgroundProcess, Exit } from "./background-process.ts";
import { FailedStart } from "./start-error.ts";

interface SupervisedProcess {
  /** Starts the process and returns it once it is up; throws if it does not come up. */
  readonly start: (signal: AbortSignal) => Promise<BackgroundProcess>;
  /** It was up and has ended unasked. It is being restarted. */
  readonly onDeath: (exit: Exit) => void;
  /** It does not come up. It is retried, each time after a longer pause. */
  readonly onFailedStart: (error: unknown) => void;
  /** It has stayed up after it had died or failed to start. */
  readonly onRecovery: () => void;
  /** Once aborted, nothing is started any more. A running process continues until it is stopped. */
  readonly signal: AbortSignal;
}

export interface Supervised {
  /** Resolves when it is up for the first time; rejects if that is not possible, or if it is stopped before. */
  readonly up: Promise<void>;
  stop(): Promise<void>;
}

const firstPauseMs = 100;
const pauseMsMax = 5_000;
/** A process that has been up this long has recovered. After one that ends sooner, the pause grows each time. */
const stableMs = 5_000;

/**
 * Keeps a process running until it is to be stopped, however often it dies or fails to start: whatever it lacks may
 * come back. It gives up only on a process that has never been up and reports that it never can be.
 */
export function supervise(command: SupervisedProcess): Supervised {
  const { start, onDeath, onFailedStart, onRecovery } = command;
  const stopping = new AbortController();
  const signal = AbortSignal.any([command.signal, stopping.signal]);
  const up = Promise.withResolvers<void>();
  // Whoever stops it before it is up no longer awaits this promise.
  up.promise.catch(() => {});
  let current: BackgroundProcess | undefined;

  /** No pause the first time, because callers are waiting. */
  const pauseAfter = async (failures: number): Promise<void> => {
    const ms = failures === 0 ? 0 : Math.min(firstPauseMs * 2 ** (failures - 1), pauseMsMax);
    await delay(ms, undefined, { signal }).catch(() => {});
  };

  const keepRunning = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        current = await start(signal);
      } catch (error) {
        const isLast = signal.aborted || (!current && error instanceof FailedStart && error.isPermanent);
        if (isLast) return up.reject(error);
        onFailedStart(error);
        await pauseAfter(failures);
        continue;
      }
      up.resolve();
      const recovery = setTimeout(() => {
        if (failures > 0) onRecovery();
        failures = 0;
      }, stableMs);
      const exit = await current.exited;
      clearTimeout(recovery);
      if (!signal.aborted) onDeath(exit);
      await pauseAfter(failures);
    }
    up.reject(signal.reason);
  };

  const ended = keepRunning();
  const stop = async (): Promise<void> => {
    stopping.abort();
    await current?.stop();
    await ended;
  };
  return { up: up.promise, stop };
}
