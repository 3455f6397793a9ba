import { create } from "@bufbuild/protobuf";
import { type Preset, PresetSchema } from "../../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import { type DomainError, deadlineExceeded } from "../../platform/domain/domain-error.ts";
import { longTextLength } from "../../platform/json/json-text.ts";
import { monotonicMs } from "../../platform/process/clock.ts";
import { nextTurn } from "../../platform/process/next-turn.ts";
import type { CallContext } from "../../platform/rpc/call-context.ts";
import { answerTooLarge } from "../../platform/rpc/refusals.ts";
import type { ServedPreset } from "../domain/preset.ts";
import type { Admit } from "../store/sized-lookup.ts";
import { toPresetMessage } from "./preset-mapper.ts";

/** Of the presets in the answer to one batch, in bytes. The largest of them has a quarter of it. */
const outcomesBytesMax = 8 * 1024 * 1024;

/** Of the content of each that is read for a batch, in bytes: those who ask for others wait for it. */
const readBytesMax = 256 * 1024;

/** What a preset has at most beside the content of its version: name and description, ids and times. */
const besideContentBytes = 12 * 1024;

/** How long before its time is up a batch is answered with what is known by then, so that the answer is still heard. */
const lateMarginMs = 100;
/** Of a call that has little time. */
const lateMarginShare = 0.1;

interface CallPart<Part> {
  readonly part: Part;
  /** In whose name, and how long it may take. Undefined: those of the call. */
  readonly name?: { readonly accessToken: string; readonly timeoutMs: number };
}

/** Not a promise that may reject: other parts are begun before anybody looks at it. */
type Result = { readonly preset: ServedPreset } | { readonly error: unknown };

interface PartRules<Part> {
  /**
   * What a caller has sent with a part. It is not counted when it is sent back: a creation that was stored has to be
   * answered, so only the replay of one, which may be larger than its request, can be too large.
   */
  readonly sentBytesOf?: (part: Part) => number;
  /** What is said of a part that takes longer than the call may. */
  readonly lateError?: () => DomainError;
}

/**
 * What became of each part of a batch, once all are done or the time is up. Parts begin in their order, whoever's they are.
 * A preset that does not fit into the answer any more is left out of it, and its part is to be asked for alone.
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
  // What several parts ask for is read once, and is one message.
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

/** Runs each part in its own name. If one takes too long, the others do not wait for it: it has no result. */
async function runParts<Part>(
  parts: readonly CallPart<Part>[],
  call: CallContext,
  run: (part: Part, context: CallContext) => Promise<ServedPreset>,
  sentBytes: readonly number[],
): Promise<readonly Result[]> {
  const contexts = parts.some(({ name }) => name)
    ? await Promise.allSettled(parts.map(({ name }) => (name ? call.inNameOf(name.accessToken, name.timeoutMs) : call)))
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
    // Checking long content takes its time, so others have their turns between one and the next.
    if (checkedBytes > longTextLength) {
      await nextTurn();
      checkedBytes = 0;
    }
    begun.push(begin(part, index));
    checkedBytes += Math.max(0, (sentBytes[index] as number) - besideContentBytes);
  }
  await doneOrLate(begun, call);
  return results;
}

async function doneOrLate(begun: readonly Promise<void>[], { deadlineMs }: CallContext): Promise<void> {
  const leftMs = deadlineMs - monotonicMs();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, leftMs - Math.min(lateMarginMs, lateMarginShare * leftMs));
  });
  await Promise.race([Promise.all(begun), late]);
  clearTimeout(timer);
}

/**
 * Lets large content be read for a batch only where it is not too large, and as long as it fits into the answer. What is
 * small is not asked for: all of it together is less than that. `admit` says whether there is room for that at all.
 */
export function admitForAnswer(admit: Admit): Admit {
  let leftBytes = outcomesBytesMax;
  return (bytes) => {
    if (bytes > Math.min(readBytesMax, leftBytes)) throw answerTooLarge();
    admit(bytes);
    leftBytes -= bytes;
  };
}

/** What a preset takes of an answer, or of the request that made it. */
export function contentBytes(configJson: string, systemPrompt: string | undefined): number {
  return besideContentBytes + Buffer.byteLength(configJson) + Buffer.byteLength(systemPrompt ?? "");
}
