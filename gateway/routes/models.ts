import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { type Preset, PresetStatus } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import type { ListPresetsResponse } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { invalidRequest, isOfKind } from "../../services/platform/domain/domain-error.ts";
import { int32Max } from "../../services/platform/domain/limits.ts";
import { type Page, pageLimitMax } from "../../services/platform/domain/page.ts";
import type { Access } from "../auth/access.ts";
import type { Clients } from "../clients/clients.ts";
import { presetModelId, presetModelJson, upstreamModelJson } from "../json/model.ts";
import { modelCountSchema, modelsSchema } from "../json/model-schema.ts";
import { Type } from "../json/schema-builder.ts";
import { refusedWith, success } from "../openapi/answers.ts";
import { inEitherHeader } from "../openapi/security.ts";
import { type ListPart, listParts, sendParts } from "./list-parts.ts";
import { workspaceQuery } from "./preset-parameters.ts";

const tags = ["Models"];
const limitDefault = 500;
const limitMax = 1_000;

const listQuery = Type.Object({
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: int32Max, description: "Models to skip. Default: 0." })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limitMax,
      description: `Maximum models to return. Default: ${limitDefault} if \`offset\` or an id is given, otherwise all.`,
    }),
  ),
  after_id: Type.Optional(
    Type.String({
      description: "Instead of `offset`: lists what comes after the model with this id, as clients of Anthropic do.",
    }),
  ),
  before_id: Type.Optional(
    Type.String({ description: "Instead of `offset`: lists what comes directly before the model with this id." }),
  ),
  ...workspaceQuery,
});
const countQuery = Type.Object(workspaceQuery);

const listSchema = {
  operationId: "listModels",
  summary: "List models",
  description:
    "For every key: what a request may name as its model. First the active presets of the workspace, the most recently updated first, where the key may read or use them; then the models that the upstreams serve by name.",
  tags,
  security: inEitherHeader,
  querystring: listQuery,
  response: { 200: success("Models.", modelsSchema), ...refusedWith(400, 404) },
};

const listForUserSchema = { ...listSchema, operationId: "listModelsUser", summary: "List the models of the caller" };

const countSchema = {
  operationId: "countModels",
  summary: "Count models",
  description: "For every key: how many models are listed.",
  tags,
  security: inEitherHeader,
  querystring: countQuery,
  response: { 200: success("How many there are.", modelCountSchema), ...refusedWith(400, 404) },
};

/** The part of the upstreams that concerns models. */
interface ModelTable {
  list(): readonly { readonly models: readonly string[] }[];
}

/** What requests may name as their model. */
export function modelRoutes(app: FastifyInstance, access: Access, { presets }: Clients, upstreams: ModelTable): void {
  const onRequest = access.withAnyKeyInWorkspace();

  const lister =
    ({ caller }: FastifyRequest, statuses: PresetStatus[]): ListPresets =>
    async ({ offset, limit }) => {
      // The service takes 0 for its default.
      const request = { offset, limit: Math.min(Math.max(limit, 1), pageLimitMax), statuses };
      const { presets: items, totalCount } = await caller
        .call((options) => presets.listPresets(request, options))
        .catch(emptyIfNotAllowed);
      return { items: limit > 0 ? items : [], totalCount };
    };

  for (const [path, schema] of [
    ["/api/v1/models", listSchema],
    ["/api/v1/models/user", listForUserSchema],
  ] as const) {
    app.get<{ Querystring: Static<typeof listQuery> }>(path, { schema, onRequest }, async (request, reply) => {
      const names = namedModels(upstreams);
      // Counting by status takes longer the more presets there are. It is done for a page, but not for each part of the
      // whole list.
      const listAll = lister(request, []);
      const page = await pageOf(request.query, (id) => countBefore(id, listAll, names));
      const list = page ? lister(request, [PresetStatus.ACTIVE]) : listAll;
      const first = await list(page ?? everything);
      return sendParts(reply, modelParts(list, page, first, names));
    });
  }

  app.get("/api/v1/models/count", { schema: countSchema, onRequest }, async (request) => {
    const { totalCount } = await lister(request, [PresetStatus.ACTIVE])({ offset: 0, limit: 1 });
    return { data: { count: totalCount + namedModels(upstreams).length } };
  });
}

/** Lists as much of a page as one call returns. */
type ListPresets = (page: Page) => Promise<ListPart<Preset>>;

const everything: Page = { offset: 0, limit: Number.POSITIVE_INFINITY };

interface ModelPage extends Page {
  /** Whether the list is being read towards its beginning. */
  readonly isBackward?: boolean;
}

/** Undefined if all are asked for. */
async function pageOf(
  { offset, limit, after_id: afterId, before_id: beforeId }: Static<typeof listQuery>,
  countBefore: (id: string) => Promise<number | undefined>,
): Promise<ModelPage | undefined> {
  const path = beforeId === undefined ? "after_id" : "before_id";
  const id = beforeId ?? afterId;
  if (id === undefined) {
    return offset === undefined && limit === undefined
      ? undefined
      : { offset: offset ?? 0, limit: limit ?? limitDefault };
  }
  if (offset !== undefined || (afterId !== undefined && beforeId !== undefined)) {
    throw invalidRequest([{ path, message: "must be the only one of `offset`, `after_id` and `before_id`" }]);
  }
  const count = await countBefore(id);
  if (count === undefined) throw invalidRequest([{ path, message: "must be the id of a model that is listed" }]);
  const size = limit ?? limitDefault;
  if (beforeId === undefined) return { offset: count + 1, limit: size };
  return { offset: Math.max(0, count - size), limit: Math.min(count, size), isBackward: true };
}

/** How many models are listed before this one; undefined if it is not listed itself. */
async function countBefore(id: string, list: ListPresets, names: readonly string[]): Promise<number | undefined> {
  let count = 0;
  for await (const presets of listParts(everything, await list(everything), list)) {
    const ids = presets.filter(isActive).map(presetModelId);
    const index = ids.indexOf(id);
    if (index >= 0) return count + index;
    count += ids.length;
  }
  const index = names.indexOf(id);
  return index < 0 ? undefined : count + index;
}

function isActive({ status }: Preset): boolean {
  return status === PresetStatus.ACTIVE;
}

/** A key that may neither read nor use presets sees none. */
function emptyIfNotAllowed(error: unknown): Pick<ListPresetsResponse, "presets" | "totalCount"> {
  if (isOfKind(error, "permission_denied")) return { presets: [], totalCount: 0 };
  throw error;
}

/** The models that upstreams list by name. A pattern matches any number of others, which nobody has listed. */
function namedModels(upstreams: ModelTable): string[] {
  const patterns = upstreams.list().flatMap(({ models }) => models);
  return [...new Set(patterns.filter((pattern) => !pattern.includes("*")))];
}

/** The answer, part by part: a workspace may have any number of presets. */
async function* modelParts(
  list: ListPresets,
  page: ModelPage | undefined,
  first: ListPart<Preset>,
  names: readonly string[],
): AsyncGenerator<string> {
  yield '{"object":"list","data":[';
  let count = 0;
  let firstId: string | null = null;
  let lastId: string | null = null;
  const join = <Item>(items: readonly Item[], idOf: (item: Item) => string, toJson: (item: Item) => string): string => {
    const separator = count > 0 && items.length > 0 ? "," : "";
    count += items.length;
    const ids = items.map(idOf);
    firstId ??= ids.at(0) ?? null;
    lastId = ids.at(-1) ?? lastId;
    return separator + items.map(toJson).join(",");
  };
  for await (const presets of listParts(page ?? everything, first, list)) {
    yield join(presets.filter(isActive), presetModelId, presetModelJson);
  }
  const presetCount = page ? first.totalCount : count;
  const { offset, limit, isBackward }: ModelPage = page ?? everything;
  const behind = names.slice(Math.max(0, offset - presetCount), Math.max(0, offset + limit - presetCount));
  yield join(behind, (name) => name, upstreamModelJson);
  const totalCount = presetCount + names.length;
  const hasMore = isBackward ? offset > 0 : offset + limit < totalCount;
  const ends = `"first_id":${JSON.stringify(firstId)},"last_id":${JSON.stringify(lastId)},"has_more":${hasMore}`;
  yield `],"links":{"next":null},"total_count":${totalCount},${ends}}`;
}
