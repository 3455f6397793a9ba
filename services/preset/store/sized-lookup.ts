import type { BatchObserver } from "../../platform/batching/batch-observer.ts";
import type { BatchPart } from "../../platform/batching/batch-part.ts";
import { Batcher } from "../../platform/batching/batcher.ts";
import type { Caller } from "../../platform/mysql/caller.ts";
import { retryTransient } from "../../platform/mysql/transaction.ts";
import { sharedTrace, type Trace } from "../../platform/observe/trace.ts";

/** Called before large content is read for a caller, with its size; throws if that is too much. */
export type Admit = (bytes: number) => void;

/** What was found, but not read yet because of its size: everything except its content. */
export interface Large<Value> {
  readonly largeBytes: number;
  readonly withoutContent: Value;
}

/**
 * Content up to this size is read directly; anything larger is measured first, and then read within a limit of bytes.
 */
export const smallBytesMax = 64 * 1024;

const policy = {
  countMax: 64,
  bytesMax: 64 * smallBytesMax,
  batchesMax: 2,
  waitingMax: 10_000,
  waitingBytesMax: Number.POSITIVE_INFINITY,
  expiresRunning: true,
};

const largePolicy = { ...policy, batchesMax: 1, waitingMax: 1_000, waitingBytesMax: 256 * 1024 * 1024 };

/** How many statements may run at once if each concerns one group only. */
const groupsMax = 8;

interface Finders<Key, Value> {
  readonly keyOf: (key: Key) => string;
  /** Only lookups of the same group share a statement. Default: all are in one group. */
  readonly groupOf?: (key: Key) => string;
  readonly observer?: BatchObserver | undefined;
  /** Finds all of these at once, by the text of their key; for large ones, only the size. */
  readonly find: (keys: readonly Key[], trace: Trace | undefined) => Promise<ReadonlyMap<string, Value | Large<Value>>>;
  readonly findLarge: (keys: readonly Key[], trace: Trace | undefined) => Promise<ReadonlyMap<string, Value>>;
}

/**
 * Finds things of one kind by key. Concurrent lookups share one statement, and those of the same thing are one lookup;
 * how much is read at once is bounded in bytes, whatever is asked for.
 */
export class SizedLookup<Key, Value extends object> {
  readonly #batcher: Batcher<Key, Value | Large<Value> | undefined>;
  readonly #largeBatcher: Batcher<{ readonly key: Key; readonly largeBytes: number }, Value | undefined>;

  constructor({ keyOf, groupOf, observer, find, findLarge }: Finders<Key, Value>) {
    this.#batcher = new Batcher(
      {
        ...policy,
        observer,
        keyOf,
        bytesOf: () => smallBytesMax,
        ...(groupOf && { groupOf, batchesMax: groupsMax }),
      },
      (parts) => answer(parts, keyOf, find),
    );
    this.#largeBatcher = new Batcher(
      {
        ...largePolicy,
        keyOf: ({ key }) => keyOf(key),
        bytesOf: ({ largeBytes }) => largeBytes,
        ...(groupOf && { groupOf: ({ key }) => groupOf(key) }),
      },
      (parts) =>
        answer(
          parts,
          ({ key }) => keyOf(key),
          (larges, trace) =>
            findLarge(
              larges.map(({ key }) => key),
              trace,
            ),
        ),
    );
  }

  /** Whether it exists. Its content is not read for that. */
  async has(key: Key, caller: Caller): Promise<boolean> {
    return (await this.#batcher.submit(key, caller)) !== undefined;
  }

  /** If `isKnown` says so, large content is not read, and the result has none. */
  async find(
    key: Key,
    caller: Caller,
    admit?: Admit,
    isKnown?: (withoutContent: Value) => boolean,
  ): Promise<Value | undefined> {
    const found = await this.#batcher.submit(key, caller);
    if (found === undefined || !("largeBytes" in found)) return found;
    if (isKnown?.(found.withoutContent)) return found.withoutContent;
    admit?.(found.largeBytes);
    return this.#largeBatcher.submit({ key, largeBytes: found.largeBytes }, caller);
  }
}

/** A batch is worth reading as long as one of its callers waits. */
async function answer<Request, Value>(
  parts: readonly BatchPart<Request, Value | undefined>[],
  keyOf: (request: Request) => string,
  find: (requests: readonly Request[], trace: Trace | undefined) => Promise<ReadonlyMap<string, Value>>,
): Promise<void> {
  const deadlineMs = Math.max(...parts.map((part) => part.deadlineMs));
  const requests = parts.map(({ request }) => request);
  const trace = sharedTrace(parts);
  const found = await retryTransient(deadlineMs, () => find(requests, trace));
  for (const part of parts) part.settle(found.get(keyOf(part.request)));
}
