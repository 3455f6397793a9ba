import type { DialectName } from "../dialects/dialect-name.ts";

/** What the merge needs of a preset's version. */
export interface PresetContent {
  readonly slug: string;
  readonly version: number;
  readonly versionId: string;
  /** The dialect that the version was made from. Null if that is not known: then it is used as it is in any dialect. */
  readonly dialect: DialectName | null;
  readonly configJson: string;
  readonly systemPrompt: string | undefined;
}
