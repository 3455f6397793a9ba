import { LRUCache } from "lru-cache";
import type { BatchObserver } from "../../services/platform/batching/batch-observer.ts";
import type { BatchPart } from "../../services/platform/batching/batch-part.ts";
import { Batcher } from "../../services/platform/batching/batcher.ts";
import { isOfKind } from "../../services/platform/domain/domain-error.ts";
import type { CallOptions } from "../../services/platform/rpc/grpc-client.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { type Call, optionsOfIdentical } from "./combined-options.ts";

/**
 * The answer to one of several calls, or the reason why it failed; a promise if that call is made by itself; undefined
 * if it has yet to be.
 */
export type BatchedAnswer<Answer> = Answer | Error | Promise<Answer> | undefined;

export type MakeCall<Request, Answer> = (request: Request, options: CallOptions) => Promise<Answer>;

interface CallBatching<Request, Answer> {
  readonly call: MakeCall<Request, Answer>;
  /** Makes several calls as one and returns the answer to each, in order. Default: each is made by itself. */
  readonly callBatch?: (calls: readonly Call<Request>[]) => Promise<readonly BatchedAnswer<Answer>[]>;
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
export function batchCalls<Request, Answer extends object>(
  batching: CallBatching<Request, Answer>,
): MakeCall<Request, Answer> {
  const { bytesOf } = batching;
  const batcher = new Batcher<Call<Request>, Answer>(
    { ...policy, ...batching, bytesOf: ({ request }) => bytesOf(request) },
    (parts) => callAll(parts, batching),
  );
  return (request, options) =>
    batcher.submit({ request, options }, { deadlineMs: options.deadlineMs, isCanceled: isNeverCanceled });
}

/** The same for reads: identical concurrent reads with the same token are made once. */
export function batchIdenticalCalls<Request, Answer extends object>(
  batching: CallBatching<Request, Answer>,
): MakeCall<Request, Answer> {
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

type Part<Request, Answer> = BatchPart<Call<Request>, Answer>;

async function callAll<Request, Answer extends object>(
  parts: readonly Part<Request, Answer>[],
  { call, callBatch }: CallBatching<Request, Answer>,
): Promise<void> {
  const calls = parts.map(callOf);
  const answers = callBatch && parts.length > 1 ? await callBatch(calls).catch(noneIfReached) : [];
  // Parts that are answered are settled at once, without waiting for the others.
  const later: Promise<void>[] = [];
  for (const [index, part] of parts.entries()) {
    const { request, options } = calls[index] as Call<Request>;
    let answer = answers[index] ?? call(request, options);
    if (isWorthAnotherCall(answer, options)) {
      options.onOutcomeUnknown?.();
      answer = call(request, options);
    }
    if (answer instanceof Promise) later.push(settle(part, answer));
    else if (answer instanceof Error) part.fail(answer);
    else part.settle(answer);
  }
  await Promise.all(later);
}

/** One call may have failed them all. Then each is repeated alone, so that no caller suffers for another. */
function noneIfReached(error: unknown): [] {
  if (isOfKind(error, "unavailable", "deadline_exceeded")) throw error;
  return [];
}

function settle<Request, Answer>(part: Part<Request, Answer>, answer: Promise<Answer>): Promise<void> {
  return answer.then(
    (each) => part.settle(each),
    (reason: unknown) => part.fail(reason),
  );
}

/** One call on behalf of all identical ones. */
function callOf<Request, Answer>({ request, requests, deadlineMs }: Part<Request, Answer>): Call<Request> {
  if (requests.length === 1) return request;
  return { request: request.request, options: optionsOfIdentical(requests, deadlineMs) };
}

/** Enough time for a call that is answered at all. */
const callMs = 100;

/**
 * Whether a part of a batch is repeated by itself: if the service could not answer it, or if the batch timed out with
 * one of several processes and the part has time left.
 */
function isWorthAnotherCall(answer: unknown, { deadlineMs }: CallOptions): boolean {
  return isOfKind(answer, "unavailable", "deadline_exceeded") && deadlineMs - monotonicMs() > callMs;
}
