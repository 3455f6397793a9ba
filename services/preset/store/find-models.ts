import { idFromBytes, idToBytes } from "../../platform/domain/ids.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";
import { cachedByCount, repeated } from "../../platform/mysql/text-by-count.ts";
import { configStartLength, modelOf } from "../domain/config-model.ts";

interface ConfigRow extends RowDataPacket {
  readonly id: Buffer;
  readonly config_start: string;
}

const selectConfigs = cachedByCount(
  (count) => `SELECT id, LEFT(config, ${configStartLength}) AS config_start FROM preset_versions
    WHERE workspace_id = ? AND id IN (${repeated(count, "?")})`,
);

/** The models that these versions name, by version id; at most a page of them. */
export async function findModels(
  executor: Executor,
  workspaceId: string,
  versionIds: readonly string[],
): Promise<ReadonlyMap<string, string | undefined>> {
  if (versionIds.length === 0) return new Map();
  const values = [workspaceId, ...versionIds].map(idToBytes);
  const [rows] = await executor.execute<ConfigRow[]>(selectConfigs(versionIds.length), values);
  return new Map(rows.map(({ id, config_start }) => [idFromBytes(id), modelOf(config_start)]));
}
