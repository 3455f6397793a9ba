import type { Logger } from "../observe/logger.ts";
import { exitCodeOf } from "./exit-code.ts";
import { limitHeapGrowth } from "./heap-growth.ts";

type Close = () => Promise<void> | void;

/** What a process has opened, so that it can be closed in reverse order. */
export class Lifecycle {
  readonly #opened: { readonly name: string; readonly close: Close }[] = [];
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

  /** Closes all that was opened, last first. A close that fails is logged and does not keep the others open. */
  async close(): Promise<void> {
    this.#draining = true;
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
 * Runs a process until SIGTERM or SIGINT: opens everything, then drains and exits 0.
 * Exits as `exitCodeOf` says where opening fails, and 1 where something was thrown that nobody caught: the state is
 * unknown then.
 */
export async function runProcess(logger: Logger, open: (lifecycle: Lifecycle) => Promise<unknown>): Promise<void> {
  limitHeapGrowth();
  const lifecycle = new Lifecycle(logger);
  const exit = async (code: number): Promise<void> => {
    await lifecycle.close();
    logger.flush(() => process.exit(code));
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (lifecycle.draining) return;
      logger.info({ signal }, "stopping");
      void exit(0);
    });
  }
  process.on("uncaughtException", (error) => {
    logger.fatal({ err: error }, "uncaught exception");
    void exit(1);
  });
  try {
    await open(lifecycle);
    logger.info("started");
  } catch (error) {
    logger.fatal({ err: error }, "could not start");
    await exit(exitCodeOf(error));
  }
}
