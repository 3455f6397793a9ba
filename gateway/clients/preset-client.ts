import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Preset } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import type {
  CreateVersionRequestSchema,
  PresetOutcome,
  PresetService,
  UpdatePresetRequestSchema,
} from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { type DomainError, isOfKind } from "../../services/platform/domain/domain-error.ts";
import type { Metrics } from "../../services/platform/observe/metrics.ts";
import type { CallOptions, Methods } from "../../services/platform/rpc/grpc-client.ts";
import { fromStatusMessage } from "../../services/platform/rpc/status.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { type BatchedAnswer, batchCalls, batchIdenticalCalls, type MakeCall } from "./batched-calls.ts";
import { type Call, optionsOfBatch, shareTokenAndDeadline } from "./combined-options.ts";

type Creation = MessageInitShape<typeof CreateVersionRequestSchema>;
type Update = MessageInitShape<typeof UpdatePresetRequestSchema>;
type PresetMethods = Methods<typeof PresetService>;

/** Which preset. If the designated version is the known one, it is returned without its content. */
interface PresetRead {
  readonly slug: string;
  readonly knownVersionId?: string;
}

/** Calls the preset service. Frequent calls are batched. */
export interface PresetClient
  extends Pick<
    PresetMethods,
    | "listPresets"
    | "getVersion"
    | "findSimilarSlug"
    | "listVersions"
    | "diffVersions"
    | "listChanges"
    | "listWorkspaceChanges"
  > {
  readonly createVersion: (creation: Creation, options: CallOptions) => Promise<Preset>;
  readonly getPreset: (read: PresetRead, options: CallOptions) => Promise<Preset>;
  readonly updatePreset: (update: Update, options: CallOptions) => Promise<Preset>;
}

/** The approximate size of a call without its content. */
const requestBytes = 1_024;

const largeAtOnceMax = 4;

export function presetClient(methods: PresetMethods, metrics: Metrics): PresetClient {
  const createAlone = async (creation: Creation, options: CallOptions) =>
    presentPreset(await methods.createVersion(creation, options));

  const getAlone = async (read: PresetRead, options: CallOptions) =>
    presentPreset(await methods.getPreset(read, options));

  // Presets that are too large for a batch are read one by one, and few at a time: their size is not known in advance.
  const getLarge = batchCalls<PresetRead, Preset>({
    countMax: 1,
    batchesMax: largeAtOnceMax,
    bytesOf: () => requestBytes,
    call: getAlone,
  });

  return {
    ...methods,

    createVersion: batchCalls<Creation, Preset>({
      observer: metrics.watchBatches("CreateVersion"),
      bytesOf: ({ configJson = "", systemPrompt = "" }) => requestBytes + configJson.length + systemPrompt.length,
      call: createAlone,
      callBatch: async (calls) => {
        const batch = shareTokenAndDeadline(calls)
          ? { requests: calls.map(({ request }) => request) }
          : { creations: calls.map(({ request, options }) => ({ ...partOptions(options), request })) };
        const { outcomes } = await methods.batchCreateVersions(batch, optionsOfBatch(calls));
        return answersOf(calls, outcomes, createAlone);
      },
    }),

    getPreset: batchIdenticalCalls<PresetRead, Preset>({
      observer: metrics.watchBatches("GetPreset"),
      bytesOf: () => requestBytes,
      call: getAlone,
      callBatch: async (calls) => {
        const batch =
          shareTokenAndDeadline(calls) && !calls.some(({ request }) => request.knownVersionId)
            ? { slugs: calls.map(({ request }) => request.slug) }
            : { reads: calls.map(({ request, options }) => ({ ...partOptions(options), ...request })) };
        const { outcomes } = await methods.batchGetPresets(batch, optionsOfBatch(calls));
        return answersOf(calls, outcomes, getLarge);
      },
    }),

    updatePreset: async (update, options) => presentPreset(await methods.updatePreset(update, options)),

    listPresets: batchIdenticalCalls({ bytesOf: () => requestBytes, call: methods.listPresets }),
  };
}

/** The token and timeout of a part of a batch. */
function partOptions({ accessToken = "", deadlineMs }: CallOptions) {
  return { accessToken, timeoutMs: Math.max(1, Math.round(deadlineMs - monotonicMs())) };
}

/** The answer to each part of a batch. One that there was no room for is asked for again. */
function answersOf<Request>(
  calls: readonly Call<Request>[],
  outcomes: readonly PresetOutcome[],
  callAgain: MakeCall<Request, Preset>,
): BatchedAnswer<Preset>[] {
  return calls.map(({ request, options }, index) => {
    const answer = fromOutcome(outcomes[index]);
    return isTooLarge(answer) ? callAgain(request, options) : answer;
  });
}

function isTooLarge(answer: Preset | DomainError | undefined): boolean {
  return isOfKind(answer, "resource_exhausted") && answer.reason === "ANSWER_TOO_LARGE";
}

function presentPreset({ preset }: { readonly preset?: Preset | undefined }): Preset {
  if (!preset) throw new Error("The preset service answered without a preset");
  return preset;
}

function fromOutcome(part: PresetOutcome | undefined): Preset | DomainError | undefined {
  if (part?.outcome.case === "error") return fromStatusMessage(part.outcome.value);
  return part?.outcome.value;
}
