import { otherSpans, sharedTrace } from "../../services/platform/observe/trace.ts";
import type { CallOptions } from "../../services/platform/rpc/grpc-client.ts";

/** A call that is to be made. */
export interface Call<Request> {
  readonly request: Request;
  readonly options: CallOptions;
}

type Calls = readonly Call<unknown>[];

/** As many request ids as a service logs. They are sent in a header, which could not hold those of a large crowd. */
const requestIdsMax = 64;

/**
 * The options of one RPC with several calls as its parts. Its deadline is the latest of the callers'. It has no signal:
 * one caller's leaving is no reason to cancel the others' calls.
 */
export function optionsOfBatch(calls: Calls): CallOptions {
  const [{ options }] = calls as [Call<unknown>];
  return {
    accessToken: options.accessToken,
    requestId: idsOfParts(calls.map(({ options }) => options.requestId)).join(","),
    deadlineMs: Math.max(...calls.map(({ options }) => options.deadlineMs)),
    onOutcomeUnknown: () => {
      for (const { options } of calls) options.onOutcomeUnknown?.();
    },
    ...traceOfAll(calls),
  };
}

/**
 * The options of one call on behalf of several identical ones. Their request ids are separated by another sign than
 * those of parts.
 */
export function optionsOfIdentical(calls: Calls, deadlineMs: number): CallOptions {
  const [{ options }] = calls as [Call<unknown>];
  const requestIds = calls.slice(0, requestIdsMax).map(({ options }) => options.requestId);
  return { accessToken: options.accessToken, requestId: requestIds.join("|"), deadlineMs, ...traceOfAll(calls) };
}

/** The request ids of each part; if there are too many, only the first of each. */
function idsOfParts(parts: readonly string[]): readonly string[] {
  const count = parts.reduce((sum, ids) => sum + ids.split("|").length, 0);
  return count <= requestIdsMax ? parts : parts.map((ids) => ids.split("|", 1)[0] as string);
}

/** A service is called within one trace. Other recorded traces are linked to it. */
function traceOfAll(calls: Calls): Pick<CallOptions, "trace" | "sharedBy"> {
  const all = calls.map(({ options }) => options);
  const trace = sharedTrace(all);
  return trace?.span ? { trace, sharedBy: otherSpans(trace, all) } : { trace };
}

/** Deadlines that differ by no more than this count as the same. */
const deadlineToleranceMs = 100;

/**
 * Whether all calls have the same access token and deadline, so that the parts of their batch need none of their own.
 */
export function shareTokenAndDeadline(calls: Calls): boolean {
  const { accessToken, deadlineMs } = (calls as [Call<unknown>])[0].options;
  return calls.every(
    ({ options }) =>
      options.accessToken === accessToken && Math.abs(options.deadlineMs - deadlineMs) <= deadlineToleranceMs,
  );
}
