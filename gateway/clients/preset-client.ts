import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Preset } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import type {
  CreateVersionRequestSchema,
  PresetOutcome,
  PresetService,
} from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { type DomainError, isOfKind } from "../../services/platform/domain/domain-error.ts";
import type { Metrics } from "../../services/platform/observe/metrics.ts";
import { monotonicMs } from "../../services/platform/process/clock.ts";
import type { CallOptions, Methods } from "../../services/platform/rpc/grpc-client.ts";
import { fromStatusMessage } from "../../services/platform/rpc/status.ts";
import {
  type AnswerOfSeveral,
  areOfOne,
  type Call,
  callEach,
  gatherAlike,
  gatherCalls,
  isWorthAnotherCall,
  optionsTogether,
} from "./gathered-calls.ts";

type Creation = MessageInitShape<typeof CreateVersionRequestSchema>;
type PresetMethods = Methods<typeof PresetService>;

/** Which preset. Where its designated version is the known one, that comes without its content. */
interface PresetRead {
  readonly slug: string;
  readonly knownVersionId?: string;
}

/** The way into the preset service. What every application asks for all the time is gathered. */
export interface PresetClient
  extends Pick<
    PresetMethods,
    | "listPresets"
    | "updatePreset"
    | "getVersion"
    | "findSimilarSlug"
    | "listVersions"
    | "diffVersions"
    | "listChanges"
    | "listWorkspaceChanges"
  > {
  readonly createVersion: (creation: Creation, options: CallOptions) => Promise<Preset>;
  readonly getPreset: (read: PresetRead, options: CallOptions) => Promise<Preset>;
}

/** What a call weighs beside its content. */
const requestBytes = 1_024;

const largeAtOnceMax = 4;

export function presetClient(methods: PresetMethods, metrics?: Metrics): PresetClient {
  const createAlone = async (creation: Creation, options: CallOptions) =>
    answered(await methods.createVersion(creation, options));

  const getAlone = async (read: PresetRead, options: CallOptions) => answered(await methods.getPreset(read, options));

  // What is too large for a batch comes by itself, and little of it at a time: nobody knows its size before it is here.
  const getLarge = gatherCalls<PresetRead, Preset>({
    countMax: 1,
    batchesMax: largeAtOnceMax,
    bytesOf: () => requestBytes,
    callTogether: callEach(getAlone),
  });

  return {
    ...methods,

    createVersion: gatherCalls<Creation, Preset>({
      watch: metrics?.watchBatches("CreateVersion"),
      bytesOf: ({ configJson = "", systemPrompt = "" }) => requestBytes + configJson.length + systemPrompt.length,
      callTogether: async (calls) => {
        const [first] = calls;
        if (first && calls.length === 1) return [await createAlone(first.request, first.options)];
        const batch = areOfOne(calls)
          ? { requests: calls.map(({ request }) => request) }
          : { creations: calls.map(({ request, options }) => ({ ...nameOf(options), request })) };
        const { outcomes } = await methods.batchCreateVersions(batch, optionsTogether(calls));
        return answersOf(calls, outcomes, createAlone);
      },
    }),

    getPreset: gatherAlike<PresetRead, Preset>({
      watch: metrics?.watchBatches("GetPreset"),
      bytesOf: () => requestBytes,
      callTogether: async (calls) => {
        const [first] = calls;
        if (first && calls.length === 1) return [await getAlone(first.request, first.options)];
        const batch =
          areOfOne(calls) && !calls.some(({ request }) => request.knownVersionId)
            ? { slugs: calls.map(({ request }) => request.slug) }
            : { reads: calls.map(({ request, options }) => ({ ...nameOf(options), ...request })) };
        const { outcomes } = await methods.batchGetPresets(batch, optionsTogether(calls));
        return answersOf(calls, outcomes, getAlone, getLarge);
      },
    }),

    listPresets: gatherAlike({ bytesOf: () => requestBytes, callTogether: callEach(methods.listPresets) }),
  };
}

/** In whose name a part of a batch is, and how long it may take. */
function nameOf({ accessToken = "", deadlineMs }: CallOptions) {
  return { accessToken, timeoutMs: Math.max(1, Math.round(deadlineMs - monotonicMs())) };
}

type CallAlone<Request> = (request: Request, options: CallOptions) => Promise<Preset>;

/**
 * The answer to each part of a batch. A call is made again where a service is out of reach, and so is a part of one;
 * and so is a part for whose answer there was no room.
 */
function answersOf<Request>(
  calls: readonly Call<Request>[],
  outcomes: readonly PresetOutcome[],
  callAlone: CallAlone<Request>,
  callLarge: CallAlone<Request> = callAlone,
): AnswerOfSeveral<Preset>[] {
  return calls.map(({ request, options }, index) => {
    const answer = fromOutcome(outcomes[index]);
    if (isWorthAnotherCall(answer, options)) {
      options.onLeftOpen?.();
      return callAlone(request, options).catch((error: Error) => error);
    }
    if (isTooLarge(answer)) return callLarge(request, options).catch((error: Error) => error);
    return answer;
  });
}

function isTooLarge(answer: Preset | DomainError): boolean {
  return isOfKind(answer, "resource_exhausted") && answer.reason === "ANSWER_TOO_LARGE";
}

function answered({ preset }: { readonly preset?: Preset | undefined }): Preset {
  if (!preset) throw new Error("The preset service answered without a preset");
  return preset;
}

function fromOutcome(part: PresetOutcome | undefined): Preset | DomainError {
  if (part?.outcome.case === "preset") return part.outcome.value;
  if (part?.outcome.case === "error") return fromStatusMessage(part.outcome.value);
  throw new Error("The preset service answered without an outcome");
}
