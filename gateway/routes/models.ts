import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { type Preset, PresetStatus } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import type { ListPresetsResponse } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { isOfKind } from "../../services/platform/domain/domain-error.ts";
import { int32Max } from "../../services/platform/domain/limits.ts";
import { type Page, pageLimitMax } from "../../services/platform/domain/page.ts";
import type { Access } from "../auth/access.ts";
import type { Clients } from "../clients/clients.ts";
import { presetModelJson, upstreamModelJson } from "../json/model.ts";
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
      description: `Maximum models to return. Default: ${limitDefault} if \`offset\` is given, otherwise all.`,
    }),
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
      const request = { offset, limit: Math.min(limit, pageLimitMax), statuses };
      const { presets: items, totalCount } = await caller
        .call((options) => presets.listPresets(request, options))
        .catch(emptyIfNotAllowed);
      return { items, totalCount };
    };

  for (const [path, schema] of [
    ["/api/v1/models", listSchema],
    ["/api/v1/models/user", listForUserSchema],
  ] as const) {
    app.get<{ Querystring: Static<typeof listQuery> }>(path, { schema, onRequest }, async (request, reply) => {
      const page = pageOf(request.query);
      // Counting by status takes longer the more presets there are. It is done for a page, but not for each part of the
      // whole list.
      const list = lister(request, page ? [PresetStatus.ACTIVE] : []);
      const first = await list(page ?? everything);
      return sendParts(reply, modelParts(list, page, first, namedModels(upstreams)));
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

/** Undefined if all are asked for. */
function pageOf({ offset, limit }: Static<typeof listQuery>): Page | undefined {
  if (offset === undefined && limit === undefined) return undefined;
  return { offset: offset ?? 0, limit: limit ?? limitDefault };
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
  page: Page | undefined,
  first: ListPart<Preset>,
  names: readonly string[],
): AsyncGenerator<string> {
  yield '{"object":"list","data":[';
  let count = 0;
  const join = (models: readonly string[]): string => {
    const separator = count > 0 && models.length > 0 ? "," : "";
    count += models.length;
    return separator + models.join(",");
  };
  for await (const presets of listParts(page ?? everything, first, list)) {
    yield join(presets.filter(({ status }) => status === PresetStatus.ACTIVE).map(presetModelJson));
  }
  const presetCount = page ? first.totalCount : count;
  const { offset, limit } = page ?? everything;
  const behind = names.slice(Math.max(0, offset - presetCount), Math.max(0, offset + limit - presetCount));
  yield join(behind.map(upstreamModelJson));
  yield `],"links":{"next":null},"total_count":${presetCount + names.length}}`;
}
