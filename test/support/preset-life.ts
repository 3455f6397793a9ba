import { idToBytes } from "../../services/platform/domain/ids.ts";
import type { RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { upTo } from "./preset-store.ts";
import type { Answer, PresetJson, RequestParts } from "./rest.ts";
import type { Stack } from "./stack.ts";

/** What tests of a preset's lifecycle do with a stack. The stack need not exist before the first call. */
export function presetLife(stack: () => Stack) {
  function get(slug: string): Promise<Answer> {
    return stack().request("GET", `/presets/${slug}`, { key: stack().apiKey });
  }

  function patch(slug: string, body: unknown, parts: RequestParts = {}): Promise<Answer> {
    return stack().request("PATCH", `/presets/${slug}`, { key: stack().apiKey, body, ...parts });
  }

  async function createVersions(slug: string, count: number): Promise<PresetJson> {
    for (const n of upTo(count)) await stack().create(slug, { messages: [], seed: n });
    return (await get(slug)).json.data;
  }

  /** Everything in which a change would show. */
  async function stateOf(slug: string) {
    const { text, headers } = await get(slug);
    const changes = await stack().request("GET", `/presets/${slug}/changes`, { key: stack().apiKey });
    return { text, etag: headers.get("etag"), changes: changes.text };
  }

  /** The stored versions of a preset, oldest first. */
  async function storedVersions(slug: string, workspaceId = stack().workspaceId): Promise<RowDataPacket[]> {
    const [rows] = await stack().presetPool.execute<RowDataPacket[]>(
      `SELECT v.version, v.config, v.system_prompt FROM preset_versions v
        JOIN presets p ON p.workspace_id = v.workspace_id AND p.id = v.preset_id
        WHERE p.workspace_id = ? AND p.slug = ? ORDER BY v.version`,
      [idToBytes(workspaceId), slug],
    );
    return rows;
  }

  return { get, patch, createVersions, stateOf, storedVersions };
}
