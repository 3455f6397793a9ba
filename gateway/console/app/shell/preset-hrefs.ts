import { hrefTo, type Query } from "./location.ts";

// The addresses of presets and their screens. `screens.tsx` does the reverse.

interface InWorkspace {
  readonly slug: string;
}

/** Stands in the position of a slug. No slug begins like this. */
export const newPresetPart = "~new";

export function presetsHref(workspace: InWorkspace, query?: Query): string {
  return hrefTo([workspace.slug, "presets"], query);
}

export function newPresetHref(workspace: InWorkspace, query?: Query): string {
  return hrefTo([workspace.slug, "presets", newPresetPart], query);
}

export function presetHref(workspace: InWorkspace, slug: string, query?: Query): string {
  return hrefTo([workspace.slug, "presets", slug], query);
}

export function editHref(workspace: InWorkspace, slug: string, query?: Query): string {
  return hrefTo([workspace.slug, "presets", slug, "edit"], query);
}

export function tryHref(workspace: InWorkspace, slug: string, query?: Query): string {
  return hrefTo([workspace.slug, "presets", slug, "try"], query);
}

export function compareHref(workspace: InWorkspace, slug: string, from: number, to: number, query?: Query): string {
  return hrefTo([workspace.slug, "presets", slug, "compare", `${from}...${to}`], query);
}
