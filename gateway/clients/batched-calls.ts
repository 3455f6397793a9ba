import { LRUCache } from "lru-cache";
import type { BatchObserver } from "../../services/platform/batching/batch-observer.ts";
import type { BatchPart } from "../../services/platform/batching/batch-part.ts";
import { Batcher } from "../../services/platform/batching/batcher.ts";
import { isOfKind } from "../../services/platform/domain/domain-error.ts";
import type { CallOptions } from "../../services/platform/rpc/grpc-client.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { type Call, optionsOfIdentical } from "./combined-options.ts";

/** The answer to one of several calls, or the reason why it failed; a promise if that call is made by itself. */
export type BatchedAnswer<Answer> = Answer | Error | Promise<Answer | Error>;

/** Makes several calls as one and returns the answer to each, in order. */
type CallBatch<Request, Answer> = (calls: readonly Call<Request>[]) => Promise<readonly BatchedAnswer<Answer>[]>;

interface CallBatching<Request, Answer> {
  readonly callBatch: CallBatch<Request, Answer>;
  readonly bytesOf: (request: Request) => number;
  /** Queued calls with the same key are merged. Default: none are. */
  readonly keyOf?: (call: Call<Request>) => string;
  readonly observer?: BatchObserver | undefined;
  /** Calls in one RPC. Default: a number that performs well. */
  readonly countMax?: number;
  readonly batchesMax?: number;
}

const policy = {
  /**
   * As many as the preset service writes in one transaction, and no more than half of a large crowd: while the service
   * works on one half, the gateway reads the requests of the other.
   */
  countMax: 32,
  /** Well within what one RPC may carry, and small enough that small calls do not wait long for large ones. */
  bytesMax: 1024 * 1024,
  /** Concurrent RPCs: so many that others do not wait for a slow one. */
  batchesMax: 256,
  waitingMax: 10_000,
  waitingBytesMax: 64 * 1024 * 1024,
  expiresRunning: true,
};

/** A call continues when its caller has gone: others may wait for the same RPC. */
const isNeverCanceled = () => false;

/**
 * Combines concurrent calls into one RPC, which costs more than its content. The callers may differ, each with its own
 * access token and deadline.
 */
export function batchCalls<Request, Answer extends object>({
  callBatch,
  bytesOf,
  ...options
}: CallBatching<Request, Answer>): (request: Request, options: CallOptions) => Promise<Answer> {
  const batcher = new Batcher<Call<Request>, Answer>(
    { ...policy, ...options, bytesOf: ({ request }) => bytesOf(request) },
    (parts) => callAll(parts, callBatch),
  );
  return (request, options) =>
    batcher.submit({ request, options }, { deadlineMs: options.deadlineMs, isCanceled: isNeverCanceled });
}

/** The same for reads: identical concurrent reads with the same token are made once. */
export function batchIdenticalCalls<Request, Answer extends object>(
  batching: CallBatching<Request, Answer>,
): (request: Request, options: CallOptions) => Promise<Answer> {
  const keyOf = ({ request, options }: Call<Request>) => `${numberOf(options.accessToken)} ${JSON.stringify(request)}`;
  return batchCalls({ ...batching, keyOf });
}

/** Enough for all tokens that are in use at about the same time. Replaced ones are soon evicted. */
const tokenNumbers = new LRUCache<string, number>({ max: 1_000 });
let lastNumber = 0;

/**
 * A short stand-in for a token, which is long. No two tokens ever get the same number: one that was evicted gets a new
 * one.
 */
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
  callBatch: CallBatch<Request, Answer>,
): Promise<void> {
  try {
    const answers = await callBatch(parts.map(callOf));
    // Parts that are answered are settled at once, without waiting for the others.
    const later: Promise<void>[] = [];
    for (const [index, part] of parts.entries()) {
      const answer = answers[index];
      if (answer instanceof Promise) later.push(answer.then((each) => settle(part, each)));
      else settle(part, answer);
    }
    await Promise.all(later);
  } catch (error) {
    // One call may have failed them all, so each is repeated alone, and no caller suffers for another.
    if (parts.length === 1 || isOfKind(error, "unavailable", "deadline_exceeded")) throw error;
    await Promise.all(parts.map((part) => callAll([part], callBatch).catch((reason: unknown) => part.fail(reason))));
  }
}

function settle<Request, Answer>(part: BatchPart<Request, Answer>, answer: Answer | Error | undefined): void {
  if (answer === undefined || answer instanceof Error) part.fail(answer ?? new Error("A batch was answered in part"));
  else part.settle(answer);
}

/** One call on behalf of all identical ones. */
function callOf<Request, Answer>({ request, requests, deadlineMs }: BatchPart<Call<Request>, Answer>): Call<Request> {
  if (requests.length === 1) return request;
  return { request: request.request, options: optionsOfIdentical(requests, deadlineMs) };
}

/** Enough time for a call that is answered at all. */
const callMs = 100;

/**
 * Whether a part of a batch is repeated by itself: if the service could not answer it, or if the batch timed out with
 * one of several processes and the part has time left.
 */
export function isWorthAnotherCall(answer: unknown, { deadlineMs }: CallOptions): boolean {
  return isOfKind(answer, "unavailable", "deadline_exceeded") && deadlineMs - monotonicMs() > callMs;
}

/** For methods without a batch variant: makes each call by itself. */
export function callEach<Request, Answer>(
  call: (request: Request, options: CallOptions) => Promise<Answer>,
): CallBatch<Request, Answer> {
  return async (calls) => calls.map(({ request, options }) => call(request, options).catch((error: Error) => error));
}
