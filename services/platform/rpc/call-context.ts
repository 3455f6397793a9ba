import type { Status } from "../../../proto/gen/google/rpc/status_pb.ts";
import type { AccessTokenVerifier } from "../auth/access-token.ts";
import type { Principal } from "../auth/principal.ts";
import { invalidRequest } from "../domain/domain-error.ts";
import type { Trace } from "../observe/trace.ts";
import { monotonicMs } from "../time/clock.ts";
import type { CallReservation } from "./call-bytes.ts";
import type { Code } from "./codes.ts";
import { overloaded } from "./refusals.ts";

/** What a transport knows about one call. */
export interface IncomingCall {
  /** As OpenTelemetry names protocols. */
  readonly rpcSystem: "grpc" | "connectrpc";
  readonly header: (name: string) => string | undefined;
  /** By the monotonic clock; undefined if the caller set none. */
  readonly deadlineMs: number | undefined;
  /** Whether the caller has given up. */
  readonly isCanceled: () => boolean;
  /** The code with which it ended for its caller, if that was before its method ended. */
  readonly earlyEnd: Code | undefined;
  /** Aborted when the caller is gone. Streams always have one. */
  readonly signal: AbortSignal | undefined;
  /** What it holds in memory; undefined if that is not counted. */
  readonly reservation: CallReservation | undefined;
}

/** What a method knows about any call. */
export interface OpenContext {
  /** By the monotonic clock: the caller's own deadline, or ours if that is earlier. */
  readonly deadlineMs: number;
  /** Whether the caller has given up, so that nothing may be stored for it any more. */
  readonly isCanceled: () => boolean;
  readonly signal: AbortSignal | undefined;
  /** The work done for the call belongs to this trace. */
  readonly trace: Trace | undefined;
  /** To be called before large content is read for the answer, with its size. Throws if there is no room for it. */
  readonly admit: (bytes: number) => void;
  /** For a part of a call that fails on its own: what the caller may see of the error. The log gets the rest. */
  readonly partFailed: (thrown: unknown, part: number) => Status;
}

/** What a method knows about a call that came with an access token. */
export interface CallContext extends OpenContext {
  readonly principal: Principal;
  /** The organization of the principal. */
  readonly tenant: string | undefined;
  /**
   * The context of a part of a call that has an access token of its own, and may have less time; 0: as much as the
   * call.
   */
  readonly onBehalfOf: (accessToken: string, timeoutMs: number) => Promise<CallContext>;
}

/** No call waits longer than this for the database, however long its caller would wait. */
const callTimeoutMaxMs = 15_000;

export function openContext(
  { deadlineMs, isCanceled, signal, reservation }: IncomingCall,
  { trace, partFailed }: Pick<OpenContext, "trace" | "partFailed">,
): OpenContext {
  const ours = monotonicMs() + callTimeoutMaxMs;
  const admit = (bytes: number) => {
    if (reservation && !reservation.reserve(bytes)) throw overloaded();
  };
  return {
    deadlineMs: Math.min(deadlineMs ?? Number.POSITIVE_INFINITY, ours),
    isCanceled,
    signal,
    trace,
    admit,
    partFailed,
  };
}

/** Throws if the call has no valid access token. */
export async function callContext(
  call: IncomingCall,
  verifier: AccessTokenVerifier,
  record: Pick<OpenContext, "trace" | "partFailed"> & { readonly actsForOthers: () => void },
): Promise<CallContext> {
  const arrivedAtMs = monotonicMs();
  const context: CallContext = {
    ...openContext(call, record),
    ...callerOf(await verifier.authenticate(call.header("authorization"))),
    onBehalfOf: async (accessToken, timeoutMs) => {
      record.actsForOthers();
      if (timeoutMs < 0) throw invalidRequest([{ path: "timeout_ms", message: "must be at least 0" }]);
      const deadlineMs = timeoutMs === 0 ? context.deadlineMs : Math.min(context.deadlineMs, arrivedAtMs + timeoutMs);
      return { ...context, deadlineMs, ...callerOf(await verifier.verify(accessToken)) };
    },
  };
  return context;
}

function callerOf(principal: Principal): Pick<CallContext, "principal" | "tenant"> {
  return { principal, tenant: principal.organizationId };
}
