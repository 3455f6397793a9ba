import type { VersionContent } from "../../api/presets.ts";
import { compact } from "../../json/json-pieces.ts";
import { configFaultOf } from "./config-fault.ts";

interface Edited {
  readonly base: Pick<VersionContent, "config" | "prompt">;
  readonly config: string;
  readonly prompt: string;
}

/** Whether a draft differs from the version that it is based on. */
export function isChanged({ base, config, prompt }: Edited): boolean {
  if (prompt !== (base.prompt ?? "") || configFaultOf(config) !== undefined) return true;
  // The gateway stores a config without spaces, but over RPC it is stored as it was sent.
  return compact(config) !== compact(base.config);
}
