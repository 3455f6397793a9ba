import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type BackgroundProcess, startInBackground } from "../../deploy/local/background-process.ts";
import { lookForHttpFault } from "../../deploy/local/readiness.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { nextPort } from "./ports.ts";

const podsMax = 5;
const replicas = 2;
const readyWithinMs = 60_000;

/** Where a pod listens: the port for calls, and the port for probes. */
interface Address {
  readonly port: number;
  readonly probePort: number;
}

interface Pod {
  readonly address: Address;
  readonly process: BackgroundProcess;
}

interface DeploymentOptions {
  readonly entryFile: string;
  /** The variables that set the two ports. */
  readonly ports: readonly [string, string];
  readonly logFile: string;
}

/** Two real processes, replaced one by one as Kubernetes does it: a new one is ready before an old one is stopped. */
export class Deployment {
  readonly #options: DeploymentOptions;
  readonly #free: Address[];
  #pods: readonly Pod[] = [];
  readonly #ending = new Set<Promise<void>>();
  /** How each stopped pod ended. */
  readonly ends: string[] = [];

  private constructor(options: DeploymentOptions, addresses: readonly Address[]) {
    this.#options = options;
    this.#free = [...addresses];
    this.target = addresses.map(({ port }) => `127.0.0.1:${port}`).join(",");
  }

  /** All addresses at which there may be a pod, as a gRPC target. */
  readonly target: string;

  static async create(options: DeploymentOptions): Promise<Deployment> {
    const addresses: Address[] = [];
    while (addresses.length < podsMax) addresses.push({ port: await nextPort(), probePort: await nextPort() });
    return new Deployment(options, addresses);
  }

  /** The ports of the pods that have not been told to stop, as in a Service. */
  get readyPorts(): readonly number[] {
    return this.#pods.map(({ address }) => address.port);
  }

  /** Returns when every pod has the new environment; earlier ones may still be stopping. */
  async roll(environment: NodeJS.ProcessEnv): Promise<void> {
    for (let n = 0; n < replicas; n++) {
      const made = await this.#start(environment);
      const [oldest] = this.#pods.length === replicas ? this.#pods : [];
      this.#pods = [...this.#pods.filter((pod) => pod !== oldest), made];
      if (oldest) this.#end(oldest);
    }
  }

  async stop(): Promise<void> {
    for (const pod of this.#pods) this.#end(pod);
    this.#pods = [];
    await Promise.all(this.#ending);
  }

  async #start(environment: NodeJS.ProcessEnv): Promise<Pod> {
    // A stopping pod keeps its address until it is gone.
    while (this.#free.length === 0) await Promise.race(this.#ending);
    const address = this.#free.shift() as Address;
    const { entryFile, ports, logFile } = this.#options;
    const process = startInBackground({
      command: globalThis.process.execPath,
      args: [join(import.meta.dirname, "../..", entryFile)],
      env: { ...environment, [ports[0]]: String(address.port), [ports[1]]: String(address.probePort) },
      logFile,
    });
    const deadlineMs = monotonicMs() + readyWithinMs;
    for (;;) {
      const fault = await lookForHttpFault(`http://127.0.0.1:${address.probePort}/readyz`);
      if (fault === undefined) return { address, process };
      if (monotonicMs() > deadlineMs) throw new Error(`${entryFile} is not ready: ${fault}`);
      await sleep(50);
    }
  }

  #end({ process: { pid, exited }, address }: Pod): void {
    process.kill(pid, "SIGTERM");
    const end = exited.then(({ reason }) => {
      this.#ending.delete(end);
      this.#free.push(address);
      this.ends.push(reason);
    });
    this.#ending.add(end);
  }
}
