/**
 * What to search presets for. Programs call a preset by a name such as `@preset/support-reply@3`, which people paste
 * into a search: then it is the slug.
 */
export function searchedText(text: string): string {
  return text.trim().replace(/^(["']?)@preset\/([^@\s"']+)(?:@\d*)?\1$/, "$2");
}
