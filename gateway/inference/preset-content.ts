import type { DialectName } from "../dialects/dialect-name.ts";

/** The part of a preset's version that the merge needs. */
export interface PresetContent {
  readonly slug: string;
  readonly version: number;
  readonly versionId: string;
  /**
   * The dialect that the version was created from. Null if it is not known: then it is used as it is in any dialect.
   */
  readonly dialect: DialectName | null;
  readonly configJson: string;
  readonly systemPrompt: string | undefined;
}
