/** The parts of the console, by their path behind the workspace. */
export const sections = [
  ["presets", "Presets"],
  ["activity", "Activity"],
  ["keys", "Keys"],
  ["team", "Team"],
] as const;
