import type { DatabaseCommand } from "../../platform/mysql/database-command.ts";
import type { Pool } from "../../platform/mysql/pool.ts";
import { defineCommand } from "../../platform/process/command.ts";
import { id, required } from "../../platform/process/flags.ts";
import type { OrganizationAddress } from "../config.ts";
import { purgeWorkspace } from "../store/purge-workspace.ts";
import { checkDeleted } from "./check-deleted.ts";

const reportEvery = 50_000;

/**
 * Deletes the presets of a workspace that was deleted; its keys have stopped working by then. `readOrganization` is called
 * only to run it.
 */
export function purgeWorkspaceCommand(readOrganization: () => OrganizationAddress): DatabaseCommand {
  return defineCommand({
    name: "purge-workspace",
    summary:
      "Deletes all presets of a deleted workspace for good, with their versions and change logs. Delete the workspace first.",
    flags: { workspace: required(id, "the id of the workspace, as it was when it was deleted") },
    example: "--workspace 0198c5a4-2c6f-7d19-8e03-b7f15a9c40d2",
    run: async ({ workspace }, pool: Pool) => {
      await checkDeleted(workspace, readOrganization());
      const deleted = await purgeWorkspace(pool, workspace, (table, count) => {
        if (count > 0 && count % reportEvery === 0) console.error(`${count} rows of ${table} are deleted ...`);
      });
      const { presets, preset_versions: versions } = deleted;
      return presets === 0
        ? `The workspace ${workspace} has no presets.`
        : `Deleted ${presets} presets with ${versions} versions of the workspace ${workspace}.`;
    },
  });
}
