import type { DomainError } from "../../platform/domain/domain-error.ts";

export type PresetStatus = "active" | "disabled" | "archived";

/** The inference APIs that a config may be written for. */
export const dialects = ["chat/completions", "messages", "responses"] as const;
export type Dialect = (typeof dialects)[number];

/** What a preset is found by. */
export interface PresetKey {
  readonly workspaceId: string;
  readonly slug: string;
}

/** A named, reusable LLM configuration in one workspace. */
export interface Preset extends PresetKey {
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly status: PresetStatus;
  readonly statusUpdatedAt: Date | undefined;
  readonly creatorUserId: string;
  readonly createdAt: Date;
  /** Never goes back, even if the clocks of two processes differ. */
  readonly updatedAt: Date;
  /** How many versions there are, and the number of the newest. */
  readonly latestVersion: number;
  /** The number of the version that is served. */
  readonly designatedNumber: number;
  readonly designatedVersionId: string;
  /** The number of changes, including the creation. */
  readonly revision: number;
}

/** An immutable snapshot of a preset. */
export interface PresetVersion {
  readonly id: string;
  readonly presetId: string;
  /** 1, 2, 3 … without gaps. */
  readonly version: number;
  /** A JSON object as text, exactly as it was given. */
  readonly configJson: string;
  readonly systemPrompt: string | undefined;
  /** Undefined if the caller that created the version did not say. */
  readonly dialect: Dialect | undefined;
  readonly creatorId: string;
  readonly createdAt: Date;
}

/** A preset with the version that it serves. */
export interface ServedPreset extends Preset {
  readonly designatedVersion: PresetVersion;
}

/** The answer to one creation of many: the preset as that creation left it, or why only this one is refused. */
export type Outcome = ServedPreset | DomainError;

/** Unique per preset: a slug contains no slash. */
export function presetKey({ workspaceId, slug }: PresetKey): string {
  return `${workspaceId}/${slug}`;
}

/**
 * The time that a change is recorded with. The clock of the process that made the previous one may be ahead of ours.
 */
export function timeOfChange({ updatedAt }: Preset, now: Date): Date {
  return now > updatedAt ? now : updatedAt;
}

/**
 * Changes with every change of the preset, and never repeats. No two presets share one: the same path shows each
 * workspace its own preset, and a cache or a script that has seen one must not take another for it.
 */
export function etagOf({ id, revision }: Pick<Preset, "id" | "revision">): string {
  return `${id.slice(-12)}-${revision}`;
}
