import { KeyService } from "../../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import { invalidRequest } from "../../platform/domain/domain-error.ts";
import { pageFrom } from "../../platform/domain/page.ts";
import type { Pool } from "../../platform/mysql/pool.ts";
import { retryTransient } from "../../platform/mysql/transaction.ts";
import type { Implementation } from "../../platform/rpc/service.ts";
import { keyInvalid } from "../domain/errors.ts";
import type { Key, NewKey } from "../domain/keys.ts";
import type { Organization } from "../domain/organizations.ts";
import { createKey } from "../store/create-key.ts";
import { findKeyAnywhere, getKey } from "../store/keys.ts";
import { listWorkspaceKeys } from "../store/list-keys.ts";
import { rotateKey } from "../store/rotate-key.ts";
import { deleteKey, updateKey } from "../store/update-key.ts";
import { findWorkspace } from "../store/workspaces.ts";
import { toPrincipalMessage } from "./access-mapper.ts";
import type { Administration } from "./administration.ts";
import { fromCreateKeyRequest, fromRotateKeyRequest, fromUpdateKeyRequest, toKeyMessage } from "./key-mapper.ts";

export function keyService(pool: Pool, { read, change }: Administration): Implementation<typeof KeyService> {
  return {
    async listKeys(request, context) {
      return read(context, async (connection, organization) => {
        const page = pageFrom(request);
        const name = request.workspaceId || organization.defaultWorkspaceId;
        const workspace = await findWorkspace(connection, organization.id, name);
        if (!workspace) {
          throw invalidRequest([{ path: "workspace_id", message: "must name a workspace of the organization" }]);
        }
        const list = {
          organizationId: organization.id,
          workspaceId: workspace.id,
          withManagementKeys: workspace.id === organization.defaultWorkspaceId,
          withDisabled: request.includeDisabled,
        };
        const { keys, totalCount } = await listWorkspaceKeys(connection, list, page);
        return { keys: keys.map((key) => toKeyMessage(key, organization.defaultWorkspaceId)), totalCount };
      });
    },

    async createKey(request, context) {
      const prepare = () => createKey(fromCreateKeyRequest(request), context.principal.userId);
      return change(context, prepare, answerNewKey);
    },

    async getKey(request, context) {
      return read(context, async (connection, organization) =>
        answerKey(await getKey(connection, organization.id, request.key), organization),
      );
    },

    async updateKey(request, context) {
      const prepare = () => updateKey(request.key, fromUpdateKeyRequest(request));
      return change(context, prepare, answerKey, { method: KeyService.method.updateKey, request });
    },

    async deleteKey(request, context) {
      return change(context, () => deleteKey(request.key), answerKey, { method: KeyService.method.deleteKey, request });
    },

    async rotateKey(request, context) {
      return change(context, () => rotateKey(fromRotateKeyRequest(request)), answerNewKey);
    },

    async getCurrentKey(_request, context) {
      const { principal, deadlineMs } = context;
      const key = await retryTransient(deadlineMs, () => findKeyAnywhere(pool.within(context), principal.keyId));
      if (!key || key.revokedAt) throw keyInvalid();
      return { key: toKeyMessage(key, principal.workspaceId ?? ""), principal: toPrincipalMessage(principal) };
    },
  };
}

function answerKey(key: Key, { defaultWorkspaceId }: Organization) {
  return { key: toKeyMessage(key, defaultWorkspaceId) };
}

function answerNewKey({ key, secret }: NewKey, organization: Organization) {
  return { ...answerKey(key, organization), secret };
}
