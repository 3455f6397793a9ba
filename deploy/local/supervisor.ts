import { setTimeout as delay } from "node:timers/promises";
import { monotonicMs } from "../../services/platform/process/clock.ts";
import type { BackgroundProcess, Exit } from "./background-process.ts";

interface SupervisedCommand {
  /** Starts the process and returns it once it is up; throws where it does not come up. */
  readonly start: (signal: AbortSignal) => Promise<BackgroundProcess>;
  /** It was up and has ended, though nobody asked it to. It is being started again. */
  readonly onDeath: (exit: Exit) => void;
  /** It does not come up any more. The reason is that of the last attempt. */
  readonly onGiveUp: (reason: unknown) => void;
  /** Once aborted, nothing is started any more. What runs goes on until it is stopped. */
  readonly signal: AbortSignal;
}

export interface Supervised {
  /** Resolves when it is up for the first time. */
  readonly up: Promise<void>;
  stop(): Promise<void>;
}

const attemptsMax = 5;
/** An attempt that has taken this long is not repeated. */
const downMsMax = 60_000;
/** A process that ends sooner than this is held back before its next start, each time for longer. */
const shortLifeMs = 5_000;
const pauseMsMax = 1_000;

/** Keeps a process running until it is told to stop it. */
export function supervise({ start, onDeath, onGiveUp, signal: outerSignal }: SupervisedCommand): Supervised {
  const stopping = new AbortController();
  const signal = AbortSignal.any([outerSignal, stopping.signal]);
  const up = Promise.withResolvers<void>();
  // Whoever stops it before it is up does not wait for that any more.
  up.promise.catch(() => {});
  let current: BackgroundProcess | undefined;

  const keepRunning = async (): Promise<void> => {
    let failedAttempts = 0;
    let shortLives = 0;
    while (!signal.aborted) {
      const beganAt = monotonicMs();
      try {
        current = await start(signal);
        failedAttempts = 0;
        up.resolve();
        const exit = await current.exited;
        if (!signal.aborted) onDeath(exit);
      } catch (error) {
        failedAttempts += 1;
        if (signal.aborted || failedAttempts === attemptsMax || monotonicMs() - beganAt >= downMsMax) {
          up.reject(error);
          if (!signal.aborted) onGiveUp(error);
          return;
        }
      }
      shortLives = monotonicMs() - beganAt < shortLifeMs ? shortLives + 1 : 0;
      // The first time at once: callers are waiting.
      if (shortLives > 1)
        await delay(Math.min(25 * 2 ** shortLives, pauseMsMax), undefined, { signal }).catch(() => {});
    }
  };

  const ended = keepRunning();
  const stop = async (): Promise<void> => {
    stopping.abort();
    await current?.stop();
    await ended;
  };
  return { up: up.promise, stop };
}
