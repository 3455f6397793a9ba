import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { PresetStatus } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import type { ListPresetsResponse } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { isOfKind } from "../../services/platform/domain/domain-error.ts";
import { int32Max } from "../../services/platform/domain/limits.ts";
import { type Page, pageLimitMax } from "../../services/platform/domain/page.ts";
import type { Access } from "../auth/access.ts";
import type { Clients } from "../clients/clients.ts";
import { cutOffWhenStalled } from "../http/stalled-reader.ts";
import { presetModelJson, upstreamModelJson } from "../json/model.ts";
import { modelCountSchema, modelsSchema } from "../json/model-schema.ts";
import { refusedWith, success } from "../openapi/answers.ts";
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
      description: `Maximum models to return. Default: ${limitDefault} where \`offset\` is given, else all.`,
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
  querystring: listQuery,
  response: { 200: success("Models.", modelsSchema), ...refusedWith(400, 404) },
};

const listForUserSchema = { ...listSchema, operationId: "listModelsUser", summary: "List the models of the caller" };

const countSchema = {
  operationId: "countModels",
  summary: "Count models",
  description: "For every key: how many models are listed.",
  tags,
  querystring: countQuery,
  response: { 200: success("How many there are.", modelCountSchema), ...refusedWith(400, 404) },
};

/** The upstreams, as far as models are concerned. */
interface ModelTable {
  list(): readonly { readonly models: readonly string[] }[];
}

/** What requests may name as their model. */
export function modelRoutes(app: FastifyInstance, access: Access, { presets }: Clients, upstreams: ModelTable): void {
  const onRequest = access.withAnyKeyInWorkspace();

  const lister =
    ({ caller }: FastifyRequest, statuses: PresetStatus[]): ListPresets =>
    (page) =>
      caller.call((options) => presets.listPresets({ ...page, statuses }, options)).catch(noneWhereNotAllowed);

  for (const [path, schema] of [
    ["/api/v1/models", listSchema],
    ["/api/v1/models/user", listForUserSchema],
  ] as const) {
    app.get<{ Querystring: Static<typeof listQuery> }>(path, { schema, onRequest }, async (request, reply) => {
      const page = pageOf(request.query);
      // To count by status takes time in proportion to the presets: that is done for a page, but not for each part of all.
      const list = lister(request, page ? [PresetStatus.ACTIVE] : []);
      const first = await list(partOf(page ?? everything));
      cutOffWhenStalled(reply);
      const parts = modelParts(list, page, first, namedModels(upstreams));
      // Fastify would read the stream of a HEAD to its end, for nothing.
      return reply.type("application/json").send(Readable.from(request.method === "HEAD" ? [] : parts));
    });
  }

  app.get("/api/v1/models/count", { schema: countSchema, onRequest }, async (request) => {
    const { totalCount } = await lister(request, [PresetStatus.ACTIVE])({ offset: 0, limit: 1 });
    return { data: { count: totalCount + namedModels(upstreams).length } };
  });
}

type PresetPart = Pick<ListPresetsResponse, "presets" | "totalCount">;

type ListPresets = (page: Page) => Promise<PresetPart>;

const everything: Page = { offset: 0, limit: Number.POSITIVE_INFINITY };

/** Undefined where all are asked for. */
function pageOf({ offset, limit }: Static<typeof listQuery>): Page | undefined {
  if (offset === undefined && limit === undefined) return undefined;
  return { offset: offset ?? 0, limit: limit ?? limitDefault };
}

/** As much of it as one call takes. */
function partOf({ offset, limit }: Page): Page {
  return { offset, limit: Math.min(limit, pageLimitMax) };
}

/** A key that may neither read presets nor use them is shown none. */
function noneWhereNotAllowed(error: unknown): PresetPart {
  if (isOfKind(error, "permission_denied")) return { presets: [], totalCount: 0 };
  throw error;
}

/** Those that are names; a pattern stands for models that nobody has listed. */
function namedModels(upstreams: ModelTable): string[] {
  const patterns = upstreams.list().flatMap(({ models }) => models);
  return [...new Set(patterns.filter((pattern) => !pattern.includes("*")))];
}

/** The answer as it comes: a workspace may have any number of presets. */
async function* modelParts(
  list: ListPresets,
  page: Page | undefined,
  first: PresetPart,
  names: readonly string[],
): AsyncGenerator<string> {
  yield '{"data":[';
  let count = 0;
  const join = (models: readonly string[]): string => {
    const separator = count > 0 && models.length > 0 ? "," : "";
    count += models.length;
    return separator + models.join(",");
  };
  for await (const { presets } of presetParts(list, page ?? everything, first)) {
    yield join(presets.filter(({ status }) => status === PresetStatus.ACTIVE).map(presetModelJson));
  }
  const presetCount = page ? first.totalCount : count;
  const { offset, limit } = page ?? everything;
  const behind = names.slice(Math.max(0, offset - presetCount), Math.max(0, offset + limit - presetCount));
  yield join(behind.map(upstreamModelJson));
  yield `],"links":{"next":null},"total_count":${presetCount + names.length}}`;
}

/** The presets of a page, in parts. Those that change meanwhile may come twice or not at all, as between two pages. */
async function* presetParts(list: ListPresets, page: Page, first: PresetPart): AsyncGenerator<PresetPart> {
  let [rest, part] = [page, first];
  for (;;) {
    yield part;
    const count = part.presets.length;
    rest = { offset: rest.offset + count, limit: rest.limit - count };
    if (count === 0 || rest.limit <= 0 || rest.offset >= first.totalCount) return;
    part = await list(partOf(rest));
  }
}
