import type { PresetJson } from "./rest.ts";

/** A preset as it appears in lists. */
export type ListedPresetJson = Omit<PresetJson, "designated_version">;

export type VersionJson = PresetJson["designated_version"];

/** An entry of a preset's change log, as the gateway shows it. */
export interface ChangeJson {
  readonly revision: number;
  readonly action: string;
  readonly user_id: string;
  readonly key_id: string;
  readonly created_at: string;
  readonly changes: readonly { readonly field: string; readonly from: unknown; readonly to: unknown }[];
}

export interface DiffJson {
  readonly from: number;
  readonly to: number;
  readonly config: Readonly<Record<"added" | "removed" | "changed", Readonly<Record<string, unknown>>>>;
  readonly system_prompt_changed: boolean;
}
