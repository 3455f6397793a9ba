import type { DialectName } from "../../dialects/dialect-name.ts";
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
