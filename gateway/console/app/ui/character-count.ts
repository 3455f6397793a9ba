/** The length of a text in words. */
export function characterCount({ length }: string): string {
  return `${length.toLocaleString("en")} character${length === 1 ? "" : "s"}`;
}
