/** The number of characters, as the API counts them: one that takes two UTF-16 units counts once. */
export function countCharacters(text: string): number {
  return text.replaceAll(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g, "x").length;
}

/** The length of a text in words. */
export function characterCount(text: string): string {
  const count = countCharacters(text);
  return `${count.toLocaleString("en")} character${count === 1 ? "" : "s"}`;
}
