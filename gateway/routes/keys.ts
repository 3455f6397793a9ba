import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Static } from "typebox";
import type { Key } from "../../proto/gen/setpoint/organization/v1/key_pb.ts";
import { pageLimitMax } from "../../services/platform/domain/page.ts";
import type { CallOptions } from "../../services/platform/rpc/grpc-client.ts";
import type { Access } from "../auth/access.ts";
import type { KeyChanges } from "../auth/key-changes.ts";
import { isOfKey, mayBeOfKey } from "../auth/named-key.ts";
import type { Clients } from "../clients/clients.ts";
import { updateOrRead } from "../clients/update-or-read.ts";
import { requireNoFields, smallBodyBytesMax } from "../json/body-reader.ts";
import { requireNoTags } from "../json/etag.ts";
import { idempotencyKeyFrom, repeatableHeaders, requestIdFrom, secretRepeatableHeaders } from "../json/idempotency.ts";
import { currentKeyJson, keyJson, sendKey, sendSecret } from "../json/key.ts";
import {
  keyCreationFrom,
  keyCreationSchema,
  keyUpdateFrom,
  keyUpdateSchema,
  rotationFrom,
  rotationSchema,
} from "../json/key-body.ts";
import { pageQuery, pageSchema } from "../json/page.ts";
import { Type } from "../json/schema-builder.ts";
import { componentSchema } from "../json/schema-parts.ts";
import { sendData, sendPage } from "../json/send.ts";
import { dataOf, deleted, noStore, refusedWith, success } from "../openapi/answers.ts";

const tags = ["Keys"];
const params = Type.Object({
  hash: Type.String({
    description: "The hash or the id of the key.",
    examples: ["0198c2d6-1f5a-7c08-92be-d3a46b70e815"],
  }),
});
const oneKey = dataOf("Key");
const createdKey = success(
  "The key and its secret, which is shown only now.",
  Type.Object({ data: componentSchema("Key"), key: Type.String({ description: "The secret: `sk-sp-v1-…`." }) }),
  { "cache-control": noStore },
);

const listQuery = Type.Object({
  ...pageQuery,
  // OpenRouter's clients send no limit here, and would take a short page for all keys.
  limit: Type.Integer({ ...pageQuery.limit, default: pageLimitMax }),
  include_disabled: Type.Boolean({ default: false, description: "Whether disabled keys are listed, too." }),
  workspace_id: Type.Optional(
    Type.String({ minLength: 1, description: "Id or slug of a workspace. Default: the default one." }),
  ),
});

const listSchema = {
  operationId: "listKeys",
  summary: "List the keys of a workspace",
  description:
    "Needs a management key. The newest comes first. Management keys are listed with those of the default workspace.",
  tags,
  querystring: listQuery,
  response: { 200: success("One page of keys.", pageSchema("Key")), ...refusedWith(400, 404) },
};

const createSchema = {
  operationId: "createKeys",
  summary: "Make a key",
  description: "Needs a management key. The secret is in the answer and never shown again.",
  tags,
  headers: secretRepeatableHeaders,
  body: keyCreationSchema,
  response: { 201: createdKey, ...refusedWith(400, 403, 404, 409, 413, 415) },
};

const getSchema = {
  operationId: "getKey",
  summary: "Get a key",
  description: "Needs a management key.",
  tags,
  params,
  response: { 200: success("The key.", oneKey), ...refusedWith(400, 404) },
};

const updateSchema = {
  operationId: "updateKeys",
  summary: "Change a key",
  description:
    "Needs a management key. Renames, disables or enables a key, or changes when it expires or what it may do. The last working management key cannot be disabled or given an expiry.",
  tags,
  params,
  headers: repeatableHeaders,
  body: keyUpdateSchema,
  response: { 200: success("The key after the change.", oneKey), ...refusedWith(400, 404, 409, 413, 415) },
};

const deleteSchema = {
  operationId: "deleteKeys",
  summary: "Delete a key",
  description: "Needs a management key. The key never works again, and stays in the change log.",
  tags,
  params,
  headers: repeatableHeaders,
  response: { 200: deleted, ...refusedWith(400, 404, 409, 413, 415) },
};

const rotateSchema = {
  operationId: "rotateKey",
  summary: "Give a key a new secret",
  description:
    "Needs a management key. Everything else about the key stays the same, including its id, and the old secret works until the grace period is over. A secret that is still in the grace period of an earlier rotation ends at once.",
  tags,
  params,
  headers: secretRepeatableHeaders,
  body: rotationSchema,
  response: { 201: createdKey, ...refusedWith(400, 404, 409, 413, 415) },
};

const currentSchema = {
  operationId: "getCurrentKey",
  summary: "Get the key that the call is made with",
  description: "For every key.",
  tags,
  response: { 200: success("The key.", dataOf("CurrentKey")), ...refusedWith(400, 404) },
};

interface OneKey {
  Params: Static<typeof params>;
}

interface KeyChange extends OneKey {
  Body: string | undefined;
}

/** The keys of the organization, and the caller's own. Every change has a request id, so that it can be repeated safely. */
export function keyRoutes(app: FastifyInstance, access: Access, keyChanges: KeyChanges, { keys }: Clients): void {
  const onRequest = access.withManagementKey();
  const bodyLimit = smallBodyBytesMax;
  const changing = <Answer extends { readonly key?: Key | undefined }>(
    { params, caller }: FastifyRequest<OneKey>,
    change: (options: CallOptions) => Promise<Answer>,
  ) => {
    const mayBeChanged = mayBeOfKey(params.hash, caller.principal);
    return keyChanges.watch(
      caller.principal,
      caller.callWhileConnected(change),
      ({ key }) => isOfKey(key?.id),
      mayBeChanged,
    );
  };

  app.get<{ Querystring: Static<typeof listQuery> }>(
    "/api/v1/keys",
    { schema: listSchema, onRequest },
    async ({ query, caller }, reply) => {
      const { offset, limit, include_disabled: includeDisabled, workspace_id: workspaceId = "" } = query;
      const request = { offset, limit, includeDisabled, workspaceId };
      const page = await caller.callWhileConnected((options) => keys.listKeys(request, options));
      return sendPage(reply, page.keys.map(keyJson), page.totalCount);
    },
  );

  app.post<{ Body: string | undefined }>(
    "/api/v1/keys",
    { schema: createSchema, onRequest, bodyLimit },
    async ({ body, headers, caller }, reply) => {
      const creation = { ...keyCreationFrom(body), ...secretRequest(headers) };
      return sendSecret(reply, await caller.callWhileConnected((options) => keys.createKey(creation, options)));
    },
  );

  app.get<OneKey>("/api/v1/keys/:hash", { schema: getSchema, onRequest }, async ({ params, caller }, reply) => {
    const { key } = await caller.callWhileConnected((options) => keys.getKey({ key: params.hash }, options));
    return sendKey(reply, key);
  });

  app.patch<KeyChange>("/api/v1/keys/:hash", { schema: updateSchema, onRequest, bodyLimit }, async (request, reply) => {
    const { params, headers, body, caller } = request;
    requireNoTags(headers);
    const update = { key: params.hash, ...keyUpdateFrom(body), requestId: requestIdFrom(headers) };
    const { paths } = update.updateMask;
    const change = (options: CallOptions) =>
      updateOrRead<{ readonly key?: Key | undefined }>({
        paths,
        hasOwnId: idempotencyKeyFrom(headers) !== undefined,
        store: () => keys.updateKey(update, options),
        read: () => keys.getKey({ key: params.hash }, options),
      });
    // Renaming does not change what a key may do.
    const isRenamedAtMost = paths.every((path) => path === "name");
    const { key } = await (isRenamedAtMost ? caller.callWhileConnected(change) : changing(request, change));
    return sendKey(reply, key);
  });

  app.delete<KeyChange>(
    "/api/v1/keys/:hash",
    { schema: deleteSchema, onRequest, bodyLimit },
    async (request, reply) => {
      const { params, headers, body } = request;
      requireNoTags(headers);
      requireNoFields(body);
      const deletion = { key: params.hash, requestId: requestIdFrom(headers) };
      await changing(request, (options) => keys.deleteKey(deletion, options));
      return reply.send({ deleted: true });
    },
  );

  app.post<KeyChange>(
    "/api/v1/keys/:hash/rotate",
    { schema: rotateSchema, onRequest, bodyLimit },
    async (request, reply) => {
      const { params, body, headers } = request;
      requireNoTags(headers);
      const rotation = { key: params.hash, ...rotationFrom(body), ...secretRequest(headers) };
      const created = await changing(request, (options) => keys.rotateKey(rotation, options));
      return sendSecret(reply, created);
    },
  );

  app.get("/api/v1/key", { schema: currentSchema, onRequest: access.withAnyKey() }, async ({ caller }, reply) => {
    const answer = await caller.callWhileConnected((options) => keys.getCurrentKey({}, options));
    return sendData(reply, currentKeyJson(answer, caller.rateLimit));
  });
}

/**
 * The seed is new for each request: a call that the gateway retries gets the secret again, a caller's own retry does
 * not.
 */
function secretRequest(headers: IncomingHttpHeaders) {
  return { requestId: requestIdFrom(headers), secretSeed: randomBytes(32) };
}
