import type { Stack } from "./stack.ts";

interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly status?: number;
  readonly route?: string;
}

/** What operators see of the gateway: its connections, its metrics and its log. */
export class GatewayTelemetry {
  readonly #stack: Stack;
  #logStart = 0;

  constructor(stack: Stack) {
    this.#stack = stack;
  }

  /** Ignores what was logged so far. */
  clearLog(): void {
    this.#logStart = this.#stack.log().length;
  }

  readonly connections = async (): Promise<number> => {
    return Number((await this.#metrics()).match(/^setpoint_connections\{.*\} (\d+)$/m)?.[1]);
  };

  /** How many requests of an operation had this outcome. */
  async counted(operation: string, outcome: number): Promise<number> {
    const sample = `setpoint_request_seconds_count{process="gateway",operation="${operation}",outcome="${outcome}"} `;
    const line = (await this.#metrics()).split("\n").find((each) => each.startsWith(sample));
    return Number(line?.slice(sample.length) ?? 0);
  }

  /** The statuses in the access log. */
  readonly logged = (): (number | undefined)[] => {
    return this.#lines().flatMap(({ msg, status, route }) =>
      msg === "request" && route !== undefined ? [status] : [],
    );
  };

  /** Warnings and errors of any process. */
  readonly faults = (): LogLine[] => this.#lines().filter(({ level }) => level >= 40);

  #lines(): LogLine[] {
    const text = this.#stack.log().slice(this.#logStart).trim();
    return text === "" ? [] : text.split("\n").map((line) => JSON.parse(line));
  }

  async #metrics(): Promise<string> {
    return (await fetch(this.#stack.metricsUrl)).text();
  }
}
