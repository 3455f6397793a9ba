import { Worker } from "node:worker_threads";
import type { TracesConfig } from "./traces-config.ts";

/** Why something could not be sent. */
export interface SendFault {
  readonly message: string;
  readonly code?: string | number | undefined;
}

/**
 * Sends to a collector from a separate thread. A process that is an HTTP/1.1 client as well as a server has more kinds
 * of sockets, streams and parsers, and V8 deoptimizes Node's code for them (`--trace-deopt` shows it): all requests
 * would pay for one that is made every few seconds.
 */
export class CollectorThread {
  readonly #worker: Worker;
  /**
   * Callers that wait for an answer. There are several only at the end, and then it does not matter which answer is
   * whose.
   */
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

  /** Resolves to the fault, if there was one. */
  send(body: string): Promise<SendFault | undefined> {
    if (this.#fault) return Promise.resolve(this.#fault);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#worker.postMessage(body);
    });
  }

  /** What is in flight is tried once more at most. */
  stopRetrying(): void {
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
