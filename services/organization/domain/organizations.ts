export interface Organization {
  readonly id: string;
  readonly name: string;
  /** Where its management keys act on presets unless a request names another workspace. */
  readonly defaultWorkspaceId: string;
}

const nameLengthMax = 255;

/** The rule for every name that people give: 1 to 255 characters, not only spaces, and none that breaks a line. */
export function isName(text: string): boolean {
  return text.trim() !== "" && [...text].length <= nameLengthMax && !/\p{Cc}/u.test(text);
}
