import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { LedgerSummary } from "./ledger.ts";
import type { Holding, Order, Reply, Round, RoundResult } from "./load.ts";
import type { SideName } from "./processes.ts";

/** The process that makes the load, so that measuring it takes nothing from it. */
export interface LoadProcess {
  run(round: Round): Promise<RoundResult>;
  ledger(side: SideName): Promise<LedgerSummary>;
  /** Opens streams and leaves them open. Says how many there are. */
  hold(holding: Holding): Promise<number>;
  /** Closes them. Says how many were still going on. */
  letGo(): Promise<number>;
  close(): void;
}

export function startLoad(): LoadProcess {
  const child = fork(join(import.meta.dirname, "load.ts"), { serialization: "advanced" });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`The load process ended with exit code ${code}`);
  });
  ended.catch(() => {});
  const ask = async <R extends Reply>(order: Order): Promise<R> => {
    const answered = once(child, "message");
    child.send(order);
    const [reply]: Reply[] = await Promise.race([answered, ended]);
    if (reply && "failure" in reply) throw new Error(`The load could not be made: ${reply.failure}`);
    return reply as R;
  };
  return {
    run: async (round) => (await ask<{ result: RoundResult }>({ round })).result,
    ledger: async (side) => (await ask<{ ledger: LedgerSummary }>({ summarize: side })).ledger,
    hold: async (holding) => (await ask<{ held: number }>({ hold: holding })).held,
    letGo: async () => (await ask<{ held: number }>({ letGo: true })).held,
    close: () => child.disconnect(),
  };
}
