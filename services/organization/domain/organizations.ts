export interface Organization {
  readonly id: string;
  readonly name: string;
  /** Where its management keys act on presets unless a request names another workspace. */
  readonly defaultWorkspaceId: string;
}
