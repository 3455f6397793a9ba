import type { PresetVersion } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import { type DialectName, dialectNameOf } from "../dialects/dialect-name.ts";

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

export function contentOf(
  slug: string,
  { version, id, dialect, configJson, systemPrompt }: PresetVersion,
): PresetContent {
  return { slug, version, versionId: id, dialect: dialectNameOf(dialect), configJson, systemPrompt };
}
