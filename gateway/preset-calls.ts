import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Preset } from "../proto/gen/setpoint/preset/v1/preset_pb.ts";
import type {
  CreateVersionRequestSchema,
  ListPresetsRequestSchema,
  PresetOutcome,
  PresetService,
} from "../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { DomainError } from "../services/platform/domain-error.ts";
import { fromStatusMessage } from "../services/platform/rpc/errors.ts";
import type { CallOptions, Methods } from "../services/platform/rpc/grpc-client.ts";
import { gatherAlike, gatherCalls } from "./gather-calls.ts";
import { type JsonPage, pageJson } from "./json/page.ts";
import { listedPresetJson } from "./json/preset.ts";

type Creation = MessageInitShape<typeof CreateVersionRequestSchema>;
type PresetList = MessageInitShape<typeof ListPresetsRequestSchema>;

/** The calls that every application makes all the time; those of one key are gathered. */
export interface PresetCalls {
  readonly createVersion: (creation: Creation, options: CallOptions) => Promise<Preset>;
  readonly getPreset: (slug: string, options: CallOptions) => Promise<Preset>;
  readonly listPresets: (request: PresetList, options: CallOptions) => Promise<JsonPage>;
}

/** In UTF-16 units. A batch of creations up to this size is well within what one RPC may carry. */
const gatheredLengthMax = 128 * 1024;

export function presetCalls(presets: Methods<typeof PresetService>): PresetCalls {
  const createAlone = async (creation: Creation, options: CallOptions) =>
    answered(await presets.createVersion(creation, options));

  const getAlone = async (slug: string, options: CallOptions) => answered(await presets.getPreset({ slug }, options));

  const createGathered = gatherCalls<Creation, Preset>(async (requests, options) => {
    const [first] = requests;
    if (first && requests.length === 1) return [await createAlone(first, options)];
    const { outcomes } = await presets.batchCreateVersions({ requests: [...requests] }, options);
    return answersOf(requests, outcomes, (request) => createAlone(request, options));
  });

  const getGathered = gatherCalls<string, Preset>(async (slugs, options) => {
    // One that is asked for many times at once is fetched once.
    const distinct = [...new Set(slugs)];
    const [first] = distinct;
    if (first !== undefined && distinct.length === 1) {
      const preset = await getAlone(first, options);
      return slugs.map(() => preset);
    }
    const { outcomes } = await presets.batchGetPresets({ slugs: distinct }, options);
    const answers = await answersOf(distinct, outcomes, (slug) => getAlone(slug, options));
    const bySlug = new Map(distinct.map((slug, index) => [slug, answers[index] as Preset | Error]));
    return slugs.map((slug) => bySlug.get(slug) as Preset | Error);
  });

  return {
    createVersion: (creation, options) =>
      lengthOf(creation) > gatheredLengthMax ? createAlone(creation, options) : createGathered(creation, options),
    getPreset: getGathered,
    listPresets: gatherAlike(async (request, options) => {
      const page = await presets.listPresets(request, options);
      return { json: pageJson(page.presets.map(listedPresetJson), page.totalCount) };
    }),
  };
}

function lengthOf({ configJson = "", systemPrompt = "" }: Creation): number {
  return configJson.length + systemPrompt.length;
}

/** The answer to each part of a batch. A call is made again where a service is out of reach, and so is a part of one. */
function answersOf<Request>(
  requests: readonly Request[],
  outcomes: readonly PresetOutcome[],
  callAlone: (request: Request) => Promise<Preset>,
): Promise<(Preset | Error)[]> {
  return Promise.all(
    requests.map((request, index) => {
      const answer = fromOutcome(outcomes[index]);
      const isOutOfReach = answer instanceof DomainError && answer.kind === "unavailable";
      return isOutOfReach ? callAlone(request).catch((error: Error) => error) : answer;
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
