import { type Call, callsOf, type Task } from "./calls.ts";
import { Histogram } from "./histogram.ts";
import { HttpConnection } from "./http-connection.ts";
import { Ledger, type LedgerSummary } from "./ledger.ts";
import type { SideName } from "./tenant.ts";

/** One round of load against one side: a closed loop over `concurrency` connections. */
export interface Round {
  readonly side: SideName;
  readonly port: number;
  readonly task: Task;
  readonly seconds: number;
  readonly concurrency: number;
}

export interface RoundResult {
  readonly requests: number;
  readonly seconds: number;
  /** Of the histogram of latencies. */
  readonly counts: readonly number[];
  readonly errors: number;
  readonly firstErrors: readonly string[];
  readonly clientCpuUs: number;
}

export type Order = { readonly round: Round } | { readonly summarize: SideName };
export type Reply =
  | { readonly result: RoundResult }
  | { readonly ledger: LedgerSummary }
  | { readonly failure: string };

/** One body in this many is read whole; status, and the version of a creation, of every answer. */
const readOneIn = 50;
const errorsShown = 3;
const versionMark = '"version":';

const ledgers: Record<SideName, Ledger> = { setpoint: new Ledger(), yardstick: new Ledger() };
let runs = 0;

async function runRound({ side, port, task, seconds, concurrency }: Round): Promise<RoundResult> {
  runs += 1;
  const nextCall = callsOf(task, side, String(runs));
  const connections = await Promise.all(Array.from({ length: concurrency }, () => HttpConnection.open(port)));
  const histogram = new Histogram();
  const errors: string[] = [];
  let requests = 0;
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;

  const loop = (connection: HttpConnection): Promise<void> =>
    new Promise((resolve) => {
      let call: Call;
      let sentAt: number;
      const onFault = (reason: string): void => {
        errors.push(reason);
        resolve();
      };
      const onAnswer = (status: number, body: Buffer): void => {
        const now = performance.now();
        histogram.record(now - sentAt);
        requests += 1;
        const fault = faultOf(call, status, body, ledgers[side], requests % readOneIn === 0);
        if (fault !== undefined) errors.push(fault);
        if (now < endsAt) send(now);
        else resolve();
      };
      const send = (now: number): void => {
        call = nextCall();
        sentAt = now;
        connection.send(call.request, onAnswer, onFault);
      };
      send(performance.now());
    });
  await Promise.all(connections.map(loop));

  const elapsedMs = performance.now() - startedAt;
  const cpu = process.cpuUsage(cpuBefore);
  for (const connection of connections) connection.close();
  return {
    requests,
    seconds: elapsedMs / 1000,
    counts: histogram.counts,
    errors: errors.length,
    firstErrors: errors.slice(0, errorsShown),
    clientCpuUs: cpu.user + cpu.system,
  };
}

/** What is wrong with an answer; undefined where nothing is. Writes acknowledged creations down. */
function faultOf(call: Call, status: number, body: Buffer, ledger: Ledger, readWhole: boolean): string | undefined {
  if (status !== 200) return `status ${status}: ${body.toString("utf8", 0, 300)}`;
  if (call.creation) {
    const { workspaceId, slug, isNew } = call.creation;
    const version = versionIn(body);
    if (isNew) ledger.addNew(slug, version);
    else ledger.addShared(workspaceId, slug, version);
  }
  if (readWhole && !call.isRight(JSON.parse(body.toString()))) return `a wrong body: ${body.toString("utf8", 0, 300)}`;
  return undefined;
}

function versionIn(body: Buffer): number {
  const at = body.indexOf(versionMark) + versionMark.length;
  return Number.parseInt(body.toString("latin1", at, at + 10), 10);
}

async function carryOut(order: Order): Promise<Reply> {
  try {
    if ("round" in order) return { result: await runRound(order.round) };
    return { ledger: ledgers[order.summarize].summarize() };
  } catch (error) {
    return { failure: String(error) };
  }
}

process.on("message", async (order: Order) => process.send?.(await carryOut(order)));
// Ctrl-C reaches this process too, but it ends with the one that started it.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit());
