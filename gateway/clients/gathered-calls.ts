import { LRUCache } from "lru-cache";
import type { BatchPart } from "../../services/platform/batching/batch-part.ts";
import type { BatchWatch } from "../../services/platform/batching/batch-watch.ts";
import { Batcher } from "../../services/platform/batching/batcher.ts";
import { isOfKind } from "../../services/platform/domain/domain-error.ts";
import { spansBeside, traceTogether } from "../../services/platform/observe/trace.ts";
import { monotonicMs } from "../../services/platform/process/clock.ts";
import type { CallOptions } from "../../services/platform/rpc/grpc-client.ts";

/** A call that is to be made. */
export interface Call<Request> {
  readonly request: Request;
  readonly options: CallOptions;
}

/** The answer to a call of several, or why that one failed; a promise where it has to be made again, or is made by itself. */
export type AnswerOfSeveral<Answer> = Answer | Error | Promise<Answer | Error>;

/** Makes several calls as one and returns the answer to each, in the same order. */
type CallTogether<Request, Answer> = (calls: readonly Call<Request>[]) => Promise<readonly AnswerOfSeveral<Answer>[]>;

interface Gathering<Request, Answer> {
  readonly callTogether: CallTogether<Request, Answer>;
  readonly bytesOf: (request: Request) => number;
  /** Calls with one key that wait together are one. Default: each is by itself. */
  readonly keyOf?: (call: Call<Request>) => string;
  readonly watch?: BatchWatch | undefined;
  /** Default: as many as one RPC does well with. */
  readonly countMax?: number;
  readonly batchesMax?: number;
}

const policy = {
  /** As many as the two writers of the preset service write at once. */
  countMax: 64,
  /** Well within what one RPC may carry, and soon sent: small calls do not wait long for large ones beside them. */
  bytesMax: 1024 * 1024,
  /** So many that a call which takes long, and those that went out with it, keep nobody else waiting. */
  batchesMax: 256,
  waitingMax: 10_000,
  waitingBytesMax: 64 * 1024 * 1024,
  expiresRunning: true,
};

const goesOn = () => false;

/**
 * Gathers calls, because an RPC costs more than what it carries. They may be of different callers, each with their own
 * access token and deadline.
 */
export function gatherCalls<Request, Answer extends object>({
  callTogether,
  bytesOf,
  ...options
}: Gathering<Request, Answer>): (request: Request, options: CallOptions) => Promise<Answer> {
  const batcher = new Batcher<Call<Request>, Answer>(
    { ...policy, ...options, bytesOf: ({ request }) => bytesOf(request) },
    (parts) => callAll(parts, callTogether),
  );
  return (request, options) =>
    batcher.ask({ request, options }, { deadlineMs: options.deadlineMs, isCanceled: goesOn });
}

/** The same for reads: what one caller asks several times at once is fetched once. */
export function gatherAlike<Request, Answer extends object>(
  gathering: Gathering<Request, Answer>,
): (request: Request, options: CallOptions) => Promise<Answer> {
  const keyOf = ({ request, options }: Call<Request>) => `${numberOf(options.accessToken)} ${JSON.stringify(request)}`;
  return gatherCalls({ ...gathering, keyOf });
}

/** As many as call at about the same time: those that have been renewed since are not to be kept for long. */
const tokenNumbers = new LRUCache<string, number>({ max: 1_000 });
let lastNumber = 0;

/** Stands for a token, which is long. No two have the same, ever: one that was forgotten gets another. */
function numberOf(accessToken = ""): number {
  let number = tokenNumbers.get(accessToken);
  if (number === undefined) {
    lastNumber += 1;
    number = lastNumber;
    tokenNumbers.set(accessToken, number);
  }
  return number;
}

type Parts<Request, Answer> = readonly BatchPart<Call<Request>, Answer>[];

async function callAll<Request, Answer>(
  parts: Parts<Request, Answer>,
  callTogether: CallTogether<Request, Answer>,
): Promise<void> {
  try {
    const answers = await callTogether(parts.map(callOf));
    // Nobody waits for an answer to somebody else.
    const later: Promise<void>[] = [];
    for (const [index, part] of parts.entries()) {
      const answer = answers[index];
      if (answer instanceof Promise) later.push(answer.then((each) => tell(part, each)));
      else tell(part, answer);
    }
    await Promise.all(later);
  } catch (error) {
    // Where one call may have failed all, each is made alone, so that nobody pays for another's.
    if (parts.length === 1 || isOfKind(error, "unavailable", "deadline_exceeded")) throw error;
    await Promise.all(parts.map((part) => callAll([part], callTogether).catch((reason: unknown) => part.fail(reason))));
  }
}

function tell<Request, Answer>(part: BatchPart<Request, Answer>, answer: Answer | Error | undefined): void {
  if (answer === undefined || answer instanceof Error) part.fail(answer ?? new Error("A batch was answered in part"));
  else part.settle(answer);
}

/** As many as the log of a service takes. They travel in a header: those of a crowd would be more than HTTP/2 carries. */
const namedMax = 64;

/** One call for all who ask alike. It names them all, by another sign than the one between the parts of a batch. */
function callOf<Request, Answer>({ request, requests, deadlineMs }: BatchPart<Call<Request>, Answer>): Call<Request> {
  if (requests.length === 1) return request;
  const named = requests.slice(0, namedMax);
  const requestId = named.map(({ options }) => options.requestId).join("|");
  const { accessToken } = request.options;
  return { request: request.request, options: { accessToken, requestId, deadlineMs, ...traceOfAll(requests) } };
}

/** As much time as a call takes that is answered at all. */
const callMs = 100;

/**
 * Whether a part of a batch is to be called again by itself: where the service cannot answer it, or the time ran out that
 * the batch had with one of several processes, and not its own.
 */
export function isWorthAnotherCall(answer: unknown, { deadlineMs }: CallOptions): boolean {
  if (isOfKind(answer, "unavailable")) return true;
  return isOfKind(answer, "deadline_exceeded") && deadlineMs - monotonicMs() > callMs;
}

/** For what has no batch: makes each call by itself. */
export function callEach<Request, Answer>(
  call: (request: Request, options: CallOptions) => Promise<Answer>,
): CallTogether<Request, Answer> {
  return async (calls) => calls.map(({ request, options }) => call(request, options).catch((error: Error) => error));
}

/**
 * What goes with several calls as one: it may take as long as the most patient waits; the log of the service names every
 * request, or of many alike one. It has no signal: that one caller has gone is no reason to cancel the others' calls.
 */
export function optionsTogether(calls: readonly Call<unknown>[]): CallOptions {
  const [{ options }] = calls as [Call<unknown>];
  return {
    accessToken: options.accessToken,
    requestId: namesOf(calls.map(({ options }) => options.requestId)).join(","),
    deadlineMs: Math.max(...calls.map(({ options }) => options.deadlineMs)),
    onLeftOpen: () => {
      for (const { options } of calls) options.onLeftOpen?.();
    },
    ...traceOfAll(calls),
  };
}

/** A service is called in one trace; where others are recorded, too, they are named beside it. */
function traceOfAll(calls: readonly Call<unknown>[]): Pick<CallOptions, "trace" | "sharedBy"> {
  const all = calls.map(({ options }) => options);
  const trace = traceTogether(all);
  return trace?.span ? { trace, sharedBy: spansBeside(trace, all) } : { trace };
}

/** The names of each part; where those are too many, the first of each. */
function namesOf(parts: readonly string[]): readonly string[] {
  const count = parts.reduce((sum, names) => sum + names.split("|").length, 0);
  return count <= namedMax ? parts : parts.map((names) => names.split("|", 1)[0] as string);
}

/** Deadlines that differ by no more than this are as good as one. */
const alikeMs = 100;

/** Whether the access token and the deadline that go with the RPC stand for all. */
export function areOfOne(calls: readonly Call<unknown>[]): boolean {
  const { accessToken, deadlineMs } = (calls as [Call<unknown>])[0].options;
  return calls.every(
    ({ options }) => options.accessToken === accessToken && Math.abs(options.deadlineMs - deadlineMs) <= alikeMs,
  );
}
