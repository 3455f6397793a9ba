import { type Call, callsOf, type Task } from "./calls.ts";
import { Histogram } from "./histogram.ts";
import { HttpConnection } from "./http-connection.ts";
import { Ledger, type LedgerSummary } from "./ledger.ts";
import type { SideName } from "./processes.ts";

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
  /** Of the histogram of times to the first byte. */
  readonly firstByteCounts: readonly number[];
  /** Pieces that all answers came in. */
  readonly reads: number;
  readonly errors: number;
  readonly firstErrors: readonly string[];
  readonly clientCpuUs: number;
}

/** The same request on many connections, whose answers are left to go on. */
export interface Holding {
  readonly port: number;
  readonly request: string;
  readonly count: number;
}

export type Order =
  | { readonly round: Round }
  | { readonly summarize: SideName }
  | { readonly hold: Holding }
  | { readonly letGo: true };
export type Reply =
  | { readonly held: number }
  | { readonly result: RoundResult }
  | { readonly ledger: LedgerSummary }
  | { readonly failure: string };

/** One body in this many is read whole; status, and the version of a creation, of every answer. */
const readOneIn = 50;
const errorsShown = 3;
const versionMark = '"version":';

const ledgers = new Map<SideName, Ledger>();
const held: HttpConnection[] = [];
let runs = 0;

async function runRound({ side, port, task, seconds, concurrency }: Round): Promise<RoundResult> {
  runs += 1;
  const nextCall = callsOf(task, side, String(runs));
  const connections = await Promise.all(Array.from({ length: concurrency }, () => HttpConnection.open(port)));
  const ledger = ledgerOf(side);
  const histogram = new Histogram();
  const firstBytes = new Histogram();
  const errors: string[] = [];
  let requests = 0;
  let reads = 0;
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
        firstBytes.record(connection.firstByteAtMs - sentAt);
        reads += connection.reads;
        requests += 1;
        const fault = faultOf(call, status, body, ledger, requests % readOneIn === 0);
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
    firstByteCounts: firstBytes.counts,
    reads,
    errors: errors.length,
    firstErrors: errors.slice(0, errorsShown),
    clientCpuUs: cpu.user + cpu.system,
  };
}

/** Returns when each of them has begun to be answered, or was refused: which is known when they are let go. */
async function hold({ port, request, count }: Holding): Promise<number> {
  for (let index = 0; index < count; index += 1) held.push(await HttpConnection.open(port));
  await Promise.allSettled(held.map((connection) => connection.begin(request)));
  return held.length;
}

/** Returns how many of them were still going on. */
function letGo(): number {
  const connections = held.splice(0);
  for (const connection of connections) connection.close();
  return connections.filter(({ isBroken }) => !isBroken).length;
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
  if (readWhole && !call.isRight(body.toString())) return `a wrong body: ${body.toString("utf8", 0, 300)}`;
  return undefined;
}

function ledgerOf(side: SideName): Ledger {
  const ledger = ledgers.get(side) ?? new Ledger();
  ledgers.set(side, ledger);
  return ledger;
}

function versionIn(body: Buffer): number {
  const at = body.indexOf(versionMark) + versionMark.length;
  return Number.parseInt(body.toString("latin1", at, at + 10), 10);
}

async function carryOut(order: Order): Promise<Reply> {
  try {
    if ("round" in order) return { result: await runRound(order.round) };
    if ("hold" in order) return { held: await hold(order.hold) };
    if ("letGo" in order) return { held: letGo() };
    return { ledger: ledgerOf(order.summarize).summarize() };
  } catch (error) {
    return { failure: String(error) };
  }
}

process.on("message", async (order: Order) => process.send?.(await carryOut(order)));
// Ctrl-C reaches this process too, but it ends with the one that started it.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit());
