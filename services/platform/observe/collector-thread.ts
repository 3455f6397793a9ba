import { Worker } from "node:worker_threads";
import type { TracesConfig } from "./traces-config.ts";

/** Why something could not be sent. */
export interface SendFault {
  readonly message: string;
  readonly code?: string | number | undefined;
}

/**
 * Sends to a collector from a thread of its own. A process that is a client of HTTP/1.1 as well as a server has sockets,
 * streams and parsers of more kinds, and V8 gives up code of Node that it has made fast for one kind (`--trace-deopt`
 * shows it): all requests would pay for one that is made every few seconds.
 */
export class CollectorThread {
  readonly #worker: Worker;
  /** Those that wait for an answer. Only at the end they are several, and then it does not matter which answer is whose. */
  readonly #waiting: ((fault: SendFault | undefined) => void)[] = [];
  #fault: SendFault | undefined;

  constructor({ url, headers }: Pick<TracesConfig, "url" | "headers">) {
    const workerData = { url, headers };
    this.#worker = new Worker(new URL("./collector-worker.ts", import.meta.url), { workerData });
    this.#worker.unref();
    this.#worker.on("message", (fault: SendFault | undefined) => this.#waiting.shift()?.(fault));
    this.#worker.on("error", (error: Error) => this.#ended({ message: error.message }));
    this.#worker.on("exit", () => this.#ended({ message: "The thread that sends traces has ended" }));
  }

  /** Tells what went wrong, if anything did. */
  send(body: string): Promise<SendFault | undefined> {
    if (this.#fault) return Promise.resolve(this.#fault);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#worker.postMessage(body);
    });
  }

  /** What is under way is tried once more at most. */
  hurry(): void {
    this.#worker.postMessage(undefined);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #ended(fault: SendFault): void {
    this.#fault ??= fault;
    for (const resolve of this.#waiting.splice(0)) resolve(this.#fault);
  }
}
