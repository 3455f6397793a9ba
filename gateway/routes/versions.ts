import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import type { PresetVersion } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import { int32Max } from "../../services/platform/domain/limits.ts";
import type { Page } from "../../services/platform/domain/page.ts";
import type { Access } from "../auth/access.ts";
import type { Clients } from "../clients/clients.ts";
import { versionNotFound } from "../inference/preset-refusals.ts";
import { pageQuery, pageSchema } from "../json/page.ts";
import { changeJson, diffJson, versionJson } from "../json/preset.ts";
import { Type } from "../json/schema-builder.ts";
import { sendData, sendPage } from "../json/send.ts";
import { dataOf, refusedWith, success } from "../openapi/answers.ts";
import { type ListPart, listParts, sendParts } from "./list-parts.ts";
import { slugParams, workspaceQuery } from "./preset-parameters.ts";

const tags = ["Versions"];
const versionNumber = Type.Integer({
  minimum: 1,
  description: "The number of a version: 1, 2, 3 …",
  examples: [1],
});
const versionParams = Type.Object({ ...slugParams, version: versionNumber });
const diffParams = Type.Object({ ...slugParams, from: versionNumber, to: versionNumber });
const querystring = Type.Object(workspaceQuery);
const historyParams = Type.Object(slugParams);
const historyQuery = Type.Object({ ...pageQuery, ...workspaceQuery });
const refusals = refusedWith(400, 403, 404);

const listSchema = {
  operationId: "listPresetVersions",
  summary: "List the versions of a preset",
  description: "In ascending order.",
  tags,
  params: historyParams,
  querystring: historyQuery,
  response: { 200: success("One page of versions.", pageSchema("PresetVersion")), ...refusals },
};

const getSchema = {
  operationId: "getPresetVersion",
  summary: "Get a version of a preset",
  tags,
  params: versionParams,
  querystring,
  response: { 200: success("The version.", dataOf("PresetVersion")), ...refusals },
};

const diffSchema = {
  operationId: "diffPresetVersions",
  summary: "Compare two versions of a preset",
  description: "Which config fields were added, removed or changed, and whether the system prompt was.",
  tags,
  params: diffParams,
  querystring,
  response: { 200: success("What differs.", dataOf("VersionDiff")), ...refusals },
};

const changesSchema = {
  operationId: "listPresetChanges",
  summary: "List the changes of a preset",
  description: "Every creation and change, with who did it. The newest comes first.",
  tags,
  params: historyParams,
  querystring: historyQuery,
  response: { 200: success("One page of the change log.", pageSchema("PresetChange")), ...refusals },
};

interface History {
  Params: Static<typeof historyParams>;
  Querystring: Static<typeof historyQuery>;
}

/** The history of a preset: its versions, how they differ, and who changed what. */
export function versionRoutes(app: FastifyInstance, access: Access, { presets }: Clients): void {
  const onRequest = access.withPermission("presets:read");

  app.get<History>(
    "/api/v1/presets/:slug/versions",
    { schema: listSchema, onRequest },
    async ({ params: { slug }, query, caller }, reply) => {
      const list: ListVersions = async (page) => {
        const request = { slug, ...pageOf(page) };
        const { versions: items, totalCount } = await caller.callWhileConnected((options) =>
          presets.listVersions(request, options),
        );
        return { items, totalCount };
      };
      const first = await list(query);
      if (first.items.length < countOfNextPage(query, first)) return sendParts(reply, versionParts(list, query, first));
      return sendPage(reply, first.items.map(versionJson), first.totalCount);
    },
  );

  app.get<{ Params: Static<typeof versionParams> }>(
    "/api/v1/presets/:slug/versions/:version",
    { schema: getSchema, onRequest },
    async ({ params: { slug, version: number }, caller }, reply) => {
      const request = { slug, version: versionFrom(slug, number) };
      const { version } = await caller.callWhileConnected((options) => presets.getVersion(request, options));
      if (!version) throw new Error("GetVersion answered without a version");
      return sendData(reply, versionJson(version));
    },
  );

  app.get<{ Params: Static<typeof diffParams> }>(
    "/api/v1/presets/:slug/versions/:from/diff/:to",
    { schema: diffSchema, onRequest },
    async ({ params: { slug, from, to }, caller }, reply) => {
      const request = { slug, fromVersion: versionFrom(slug, from), toVersion: versionFrom(slug, to) };
      const diff = await caller.callWhileConnected((options) => presets.diffVersions(request, options));
      return sendData(reply, diffJson(request.fromVersion, request.toVersion, diff));
    },
  );

  app.get<History>(
    "/api/v1/presets/:slug/changes",
    { schema: changesSchema, onRequest },
    async ({ params, query, caller }, reply) => {
      const page = await caller.callWhileConnected((options) =>
        presets.listChanges({ ...params, ...pageOf(query) }, options),
      );
      return sendPage(reply, page.changes.map(changeJson), page.totalCount);
    },
  );
}

function pageOf({ offset, limit }: Page): Page {
  return { offset, limit };
}

type ListVersions = (page: Page) => Promise<ListPart<PresetVersion>>;

/** How many versions belong on the page. */
function countOfNextPage({ offset, limit }: Page, { totalCount }: ListPart<PresetVersion>): number {
  return Math.max(0, Math.min(limit, totalCount - offset));
}

/** A page that is too large for one RPC, as it comes. */
async function* versionParts(list: ListVersions, page: Page, first: ListPart<PresetVersion>): AsyncGenerator<string> {
  // The service measures everything that it is asked for, so it is asked for little more than fits.
  const listSome = (rest: Page, lastCount: number) => list({ ...rest, limit: Math.min(rest.limit, 2 * lastCount) });
  yield '{"data":[';
  let count = 0;
  for await (const versions of listParts(page, first, listSome)) {
    for (const version of versions) yield (count++ === 0 ? "" : ",") + versionJson(version);
  }
  // Versions are never deleted, so this is a fault.
  if (count < countOfNextPage(page, first))
    throw new Error("ListVersions answered with fewer versions than it had announced");
  yield `],"total_count":${first.totalCount}}`;
}

/** No preset has more versions than an int32 can number. */
function versionFrom(slug: string, version: number): number {
  if (version > int32Max) throw versionNotFound(slug, version);
  return version;
}
