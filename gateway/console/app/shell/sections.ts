/** The sections of the console, by their path below the workspace. */
export const sections = [
  ["presets", "Presets"],
  ["activity", "Activity"],
  ["keys", "Keys"],
  ["team", "Team"],
] as const;

export function sectionLabel(section: string | undefined): string {
  return sections.find(([path]) => path === section)?.[1] ?? "";
}
