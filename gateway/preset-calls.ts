import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Preset } from "../proto/gen/setpoint/preset/v1/preset_pb.ts";
import type {
  CreateVersionRequestSchema,
  ListPresetsRequestSchema,
  PresetOutcome,
  PresetService,
} from "../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { type DomainError, isOfKind } from "../services/platform/domain/domain-error.ts";
import { fromStatusMessage } from "../services/platform/rpc/errors.ts";
import type { CallOptions, Methods } from "../services/platform/rpc/grpc-client.ts";
import { areOfOne, type Call, callEach, gatherAlike, gatherCalls, optionsTogether } from "./gather-calls.ts";
import { type JsonPage, pageJson } from "./json/page.ts";
import { listedPresetJson } from "./json/preset.ts";

type Creation = MessageInitShape<typeof CreateVersionRequestSchema>;
type PresetList = MessageInitShape<typeof ListPresetsRequestSchema>;

/** The calls that every application makes all the time; they are gathered. */
export interface PresetCalls {
  readonly createVersion: (creation: Creation, options: CallOptions) => Promise<Preset>;
  readonly getPreset: (slug: string, options: CallOptions) => Promise<Preset>;
  readonly listPresets: (request: PresetList, options: CallOptions) => Promise<JsonPage>;
}

/** In UTF-16 units. A batch of creations up to this size is well within what one RPC may carry. */
const gatheredLengthMax = 64 * 1024;

export function presetCalls(presets: Methods<typeof PresetService>): PresetCalls {
  const createAlone = async (creation: Creation, options: CallOptions) =>
    answered(await presets.createVersion(creation, options));

  const getAlone = async (slug: string, options: CallOptions) => answered(await presets.getPreset({ slug }, options));

  const createGathered = gatherCalls<Creation, Preset>(async (calls) => {
    const [first] = calls;
    if (first && calls.length === 1) return [await createAlone(first.request, first.options)];
    const batch = areOfOne(calls)
      ? { requests: calls.map(({ request }) => request) }
      : { creations: calls.map(({ request, options: { accessToken = "" } }) => ({ accessToken, request })) };
    const { outcomes } = await presets.batchCreateVersions(batch, optionsTogether(calls));
    return answersOf(calls, outcomes, createAlone);
  });

  const getGathered = gatherAlike<string, Preset>(async (calls) => {
    const [first] = calls;
    if (first && calls.length === 1) return [await getAlone(first.request, first.options)];
    const batch = areOfOne(calls)
      ? { slugs: calls.map(({ request }) => request) }
      : { reads: calls.map(({ request, options: { accessToken = "" } }) => ({ accessToken, slug: request })) };
    const { outcomes } = await presets.batchGetPresets(batch, optionsTogether(calls));
    return answersOf(calls, outcomes, getAlone);
  });

  return {
    createVersion: (creation, options) =>
      lengthOf(creation) > gatheredLengthMax ? createAlone(creation, options) : createGathered(creation, options),
    getPreset: getGathered,
    listPresets: gatherAlike(
      callEach(async (request: PresetList, options: CallOptions) => {
        const page = await presets.listPresets(request, options);
        return { json: pageJson(page.presets.map(listedPresetJson), page.totalCount) };
      }),
    ),
  };
}

function lengthOf({ configJson = "", systemPrompt = "" }: Creation): number {
  return configJson.length + systemPrompt.length;
}

/** The answer to each part of a batch. A call is made again where a service is out of reach, and so is a part of one. */
function answersOf<Request>(
  calls: readonly Call<Request>[],
  outcomes: readonly PresetOutcome[],
  callAlone: (request: Request, options: CallOptions) => Promise<Preset>,
): Promise<(Preset | Error)[]> {
  return Promise.all(
    calls.map(({ request, options }, index) => {
      const answer = fromOutcome(outcomes[index]);
      return isOfKind(answer, "unavailable") ? callAlone(request, options).catch((error: Error) => error) : answer;
    }),
  );
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
