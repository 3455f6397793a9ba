import { setTimeout as sleep } from "node:timers/promises";
import type {
  DescMessage,
  DescMethodUnary,
  DescService,
  Message,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { canceled, isOfKind } from "../domain/domain-error.ts";
import { backoffMs } from "../time/backoff.ts";
import { monotonicMs } from "../time/clock.ts";
import type { Channel } from "./channel.ts";
import type { Endpoint } from "./endpoint.ts";
import { frameOf, grpcPathOf, prefixBytes } from "./grpc-messages.ts";
import { requestBytesMax } from "./message-sizes.ts";
import { requestTooLarge } from "./refusals.ts";
import { type CalledMethod, type CallOptions, callOnce, RefusedCall } from "./unary-call.ts";

export type { CallOptions } from "./unary-call.ts";

/** The unary methods of a service as functions. They throw DomainError. */
export type Methods<S extends DescService> = {
  [Name in keyof S["method"] as S["method"][Name] extends DescMethodUnary
    ? Name
    : never]: S["method"][Name] extends DescMethodUnary<infer I, infer O>
    ? (request: MessageInitShape<I>, options: CallOptions) => Promise<MessageShape<O>>
    : never;
};

/**
 * The typed client of a service. A call that fails with UNAVAILABLE, or that one of several processes does not answer
 * soon, is retried until its deadline. So every request that is sent through here must be safe to repeat: one that
 * changes something has a `request_id`.
 */
export function grpcClient<S extends DescService>(service: S, channel: Channel): Methods<S> {
  const methods = service.methods
    .filter((method) => method.methodKind === "unary")
    .map((method) => {
      const called = { path: grpcPathOf(method), input: method.input, output: method.output };
      const call = (request: MessageInitShape<typeof method.input>, options: CallOptions) =>
        callUntilDeadline(channel, called, request, options);
      return [method.localName, call];
    });
  return Object.fromEntries(methods);
}

async function callUntilDeadline(
  channel: Channel,
  method: CalledMethod & { readonly input: DescMessage },
  request: MessageInitShape<DescMessage>,
  options: CallOptions,
): Promise<Message> {
  const frame = frameOf(method.input, request);
  if (frame.length - prefixBytes > requestBytesMax) throw requestTooLarge(requestBytesMax);
  let failed: Set<Endpoint> | undefined;
  let timeouts = 0;
  for (let attempt = 0; ; attempt += 1) {
    // Before the first attempt, too: the caller may have gone while it waited for something else.
    if (options.signal?.aborted) throw canceled();
    const endpoint = channel.pick(failed);
    const hasOthers = endpoint !== undefined && channel.hasOthers(endpoint, failed);
    const isBounded = timeouts < timeoutsMax && (hasOthers || (endpoint && channel.isLastResort(endpoint)));
    const deadlineMs = isBounded ? attemptDeadlineMs(options) : options.deadlineMs;
    try {
      if (!endpoint) throw noAddressKnown(channel.fault);
      return await callOnce(endpoint.connection, method, frame, options, deadlineMs);
    } catch (error) {
      const isTimeout = isOfKind(error, "deadline_exceeded") && deadlineMs < options.deadlineMs;
      if (!isTimeout && !isOfKind(error, "unavailable")) throw error;
      if (isTimeout) {
        timeouts += 1;
        endpoint?.markNotServing();
      }
      if (endpoint) failed = new Set(failed).add(endpoint);
      // Another process may be fine; the same one needs time, unless it only asks for another connection.
      const isFirstRefusal = error instanceof RefusedCall && attempt === 0;
      const pauseMs = hasOthers || isFirstRefusal ? 0 : backoffMs(backoff, attempt);
      if (monotonicMs() + pauseMs >= options.deadlineMs) throw error;
      if (!(error instanceof RefusedCall)) options.onOutcomeUnknown?.();
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }
}

function noAddressKnown(cause: Error | undefined): RefusedCall {
  return new RefusedCall("unavailable", {
    reason: "",
    message: "No address of the service is known. Try again.",
    cause,
  });
}

const backoff = { firstMs: 25, maxMs: 1_000 };

const attemptTimeoutMinMs = 500;
const attemptTimeoutMaxMs = 3_000;
/**
 * How often a call is retried on another process, which might be faster. After that it waits: they may all be slow, and
 * retries would make that worse.
 */
const timeoutsMax = 2;

/** How long to wait for one process if there are others: a third of the remaining time, within bounds. */
function attemptDeadlineMs({ deadlineMs }: CallOptions): number {
  const nowMs = monotonicMs();
  const third = Math.max(attemptTimeoutMinMs, Math.min(attemptTimeoutMaxMs, (deadlineMs - nowMs) / 3));
  return Math.min(deadlineMs, nowMs + third);
}
