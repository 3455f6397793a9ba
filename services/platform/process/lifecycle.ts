import { flushCompileCache } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../observe/logger.ts";
import { onEndSignal } from "./end-on-signals.ts";
import { exitCodeOf } from "./exit-code.ts";
import { setV8Flags } from "./v8-flags.ts";

/** How long a process that has closed everything waits for the last lines of its log to be written. */
const lastLinesMs = 5_000;

type Close = () => Promise<void> | void;

/** What a process has opened, so that it can be closed in reverse order. */
export class Lifecycle {
  readonly #opened: { readonly name: string; readonly close: Close }[] = [];
  readonly #onStop: (() => void)[] = [];
  readonly #logger: Logger;
  #draining = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** True from the moment that the process was told to stop. */
  get draining(): boolean {
    return this.#draining;
  }

  /** Remembers how to close something that has just been opened. */
  opened(name: string, close: Close): void {
    this.#opened.push({ name, close });
  }

  /** Registers what to do once the process is told to stop, when it may still have to serve for a while. */
  stopping(action: () => void): void {
    this.#onStop.push(action);
  }

  /** From now on the process reports not ready. It still serves. */
  stop(): void {
    this.#draining = true;
    for (const action of this.#onStop.splice(0)) action();
  }

  /** Keeps serving for the delay, then closes everything. */
  async shutDown(delayMs: number): Promise<void> {
    this.stop();
    await sleep(delayMs);
    await this.close();
  }

  /** Closes everything that was opened, last first. A failure to close is logged and does not keep the others open. */
  async close(): Promise<void> {
    this.stop();
    for (let entry = this.#opened.pop(); entry; entry = this.#opened.pop()) {
      try {
        await entry.close();
      } catch (error) {
        this.#logger.error({ err: error, closing: entry.name }, "could not close cleanly");
      }
    }
  }
}

/**
 * Runs a process until SIGTERM or SIGINT: opens everything, then drains and exits 0. Before it drains, it keeps serving
 * for the delay, because callers may use a cached address for as long. If opening fails, it exits as `exitCodeOf` says;
 * after an uncaught exception, with 1, because the state is unknown then.
 */
export async function runProcess(
  logger: Logger,
  { shutdownDelayMs }: { readonly shutdownDelayMs: number },
  open: (lifecycle: Lifecycle) => Promise<unknown>,
): Promise<void> {
  setV8Flags();
  const lifecycle = new Lifecycle(logger);
  const exit = async (code: number, delayMs = 0): Promise<void> => {
    await lifecycle.shutDown(delayMs);
    // If the reader of the log hangs, so does the pending write, and Node does not exit before that is done.
    setTimeout(() => process.kill(process.pid, "SIGKILL"), lastLinesMs);
    logger.flush(() => process.exit(code));
  };
  onEndSignal((signal) => {
    if (lifecycle.draining) return;
    logger.info({ signal, shutdownDelayMs }, "stopping");
    void exit(0, shutdownDelayMs);
  });
  process.on("uncaughtException", (error) => {
    logger.fatal({ err: error }, "uncaught exception");
    void exit(1);
  });
  try {
    await open(lifecycle);
    logger.info("started");
    // Node would write its compile cache only at exit, and keep the 5 MiB that it has read until then.
    flushCompileCache();
  } catch (error) {
    logger.fatal({ err: error }, "could not start");
    await exit(exitCodeOf(error));
  }
}
