import type { Preset } from "../../../proto/gen/setpoint/preset/v1/preset_pb.ts";
export const dialectNames = ["chat/completions", "messages", "responses"] as const;
export type DialectName = (typeof dialectNames)[number];
export interface PresetContent {
  readonly slug: string;
  readonly version: number;
  readonly versionId: string;
  readonly dialect: DialectName | null;
  readonly configJson: string;
  readonly systemPrompt: string | undefined;
}
export interface PresetReference {
  readonly slug: string;
  readonly version: number | undefined;
}
export interface PreparedPreset {
  readonly content: PresetContent;
  readonly bytes: number;
}
export function preparePreset(content: PresetContent, _dialect: DialectName): PreparedPreset {
  return { content, bytes: content.configJson.length + (content.systemPrompt?.length ?? 0) };
}
export function dialectNameOf(_dialect: unknown): DialectName | null {
  return null;
}
export type { Preset };
