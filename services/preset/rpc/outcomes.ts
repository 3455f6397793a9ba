import { create } from "@bufbuild/protobuf";
import { type Preset, PresetSchema } from "../../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import { type DomainError, deadlineExceeded } from "../../platform/domain/domain-error.ts";
import { longTextLength } from "../../platform/json/json-text.ts";
import type { CallContext } from "../../platform/rpc/call-context.ts";
import { answerTooLarge } from "../../platform/rpc/refusals.ts";
import { monotonicMs } from "../../platform/time/clock.ts";
import { nextTurn } from "../../platform/time/next-turn.ts";
import type { ServedPreset } from "../domain/preset.ts";
import type { Admit } from "../store/sized-lookup.ts";
import { toPresetMessage } from "./preset-mapper.ts";

/** The limit for all presets in the answer to one batch, in bytes. The largest single preset takes a quarter of it. */
const outcomesBytesMax = 8 * 1024 * 1024;

/** The limit for each preset's content in a batch, in bytes: callers of the other parts wait while it is read. */
const readBytesMax = 256 * 1024;

/** The most that a preset has in addition to the content of its version: name and description, ids and times. */
const besideContentBytes = 12 * 1024;

/** A batch is answered this long before its deadline with what is known by then, so that the answer still arrives. */
const lateMarginMs = 100;
/** The same for a call with little time, as a share of it. */
const lateMarginShare = 0.1;

interface CallPart<Part> {
  readonly part: Part;
  /** Whom the part is for. Undefined: the caller of the call. */
  readonly caller?: { readonly accessToken: string; readonly timeoutMs: number };
}

/** Not a promise that may reject: other parts are started before anybody awaits it. */
type Result = { readonly preset: ServedPreset } | { readonly error: unknown };

interface PartRules<Part> {
  /**
   * The bytes that a caller sent with a part. They are not counted when they are sent back: a creation that was stored
   * must be answered, so only the replay of one, which may be larger than its request, can be too large.
   */
  readonly sentBytesOf?: (part: Part) => number;
  /** The error for a part that does not finish within the call's deadline. */
  readonly lateError?: () => DomainError;
}

/**
 * The outcome of each part of a batch, once all are done or the time is up. Parts are started in order, whoever they
 * belong to. A preset that no longer fits into the answer is left out, and its part must be requested alone.
 */
export async function outcomesOf<Part>(
  parts: readonly CallPart<Part>[],
  call: CallContext,
  run: (part: Part, context: CallContext) => Promise<ServedPreset>,
  { sentBytesOf = () => 0, lateError = deadlineExceeded }: PartRules<Part> = {},
) {
  const sentBytes = parts.map(({ part }) => sentBytesOf(part));
  const known = await runParts(parts, call, run, sentBytes);
  const results = parts.map((_, index): Result => known[index] ?? { error: lateError() });
  // A preset that several parts ask for is read once, and shared as one message.
  const messages = new Map<ServedPreset, Preset>();
  let bytes = 0;
  return results.map((result, index) => {
    const failed = (error: unknown) => ({ outcome: { case: "error" as const, value: call.partFailed(error, index) } });
    if ("error" in result) return failed(result.error);
    const { preset } = result;
    const { configJson, systemPrompt } = preset.designatedVersion;
    const countedBytes = Math.max(0, contentBytes(configJson, systemPrompt) - (sentBytes[index] as number));
    if (bytes + countedBytes > outcomesBytesMax) return failed(answerTooLarge());
    bytes += countedBytes;
    const message = messages.get(preset) ?? create(PresetSchema, toPresetMessage(preset));
    messages.set(preset, message);
    return { outcome: { case: "preset" as const, value: message } };
  });
}

/** Runs each part under its own token. If one takes too long, the others do not wait for it: it has no result. */
async function runParts<Part>(
  parts: readonly CallPart<Part>[],
  call: CallContext,
  run: (part: Part, context: CallContext) => Promise<ServedPreset>,
  sentBytes: readonly number[],
): Promise<readonly Result[]> {
  const contexts = parts.some(({ caller }) => caller)
    ? await Promise.allSettled(
        parts.map(({ caller }) => (caller ? call.onBehalfOf(caller.accessToken, caller.timeoutMs) : call)),
      )
    : [];
  const results: Result[] = [];
  const begin = async (part: Part, index: number): Promise<void> => {
    const context = contexts[index];
    try {
      if (context?.status === "rejected") throw context.reason;
      results[index] = { preset: await run(part, context?.value ?? call) };
    } catch (error) {
      results[index] = { error };
    }
  };
  const begun: Promise<void>[] = [];
  let checkedBytes = 0;
  for (const [index, { part }] of parts.entries()) {
    // Checking long content takes a while, so others get their turn in between.
    if (checkedBytes > longTextLength) {
      await nextTurn();
      checkedBytes = 0;
    }
    begun.push(begin(part, index));
    checkedBytes += Math.max(0, (sentBytes[index] as number) - besideContentBytes);
  }
  await untilDoneOrLate(begun, call);
  return results;
}

async function untilDoneOrLate(begun: readonly Promise<void>[], { deadlineMs }: CallContext): Promise<void> {
  const leftMs = deadlineMs - monotonicMs();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, leftMs - Math.min(lateMarginMs, lateMarginShare * leftMs));
  });
  await Promise.race([Promise.all(begun), late]);
  clearTimeout(timer);
}

/**
 * Admits large content to a batch only if it is not too large by itself and still fits into the answer. Small content
 * is not checked: all of it together is less than the limit. `admit` decides whether there is memory for it at all.
 */
export function admitForAnswer(admit: Admit): Admit {
  let leftBytes = outcomesBytesMax;
  return (bytes) => {
    if (bytes > Math.min(readBytesMax, leftBytes)) throw answerTooLarge();
    admit(bytes);
    leftBytes -= bytes;
  };
}

/** The size of a preset in an answer, or in the request that created it. */
export function contentBytes(configJson: string, systemPrompt: string | undefined): number {
  return besideContentBytes + Buffer.byteLength(configJson) + Buffer.byteLength(systemPrompt ?? "");
}
