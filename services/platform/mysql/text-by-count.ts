/**
 * The text of a statement for so many rows, built once for each count: one that is built for every call would be copied
 * and hashed again at every lookup. The caller bounds the number of rows.
 */
export function cachedByCount(write: (count: number) => string): (count: number) => string {
  const texts: string[] = [];
  return (count) => (texts[count] ??= write(count));
}

/** The same element so many times: `(?, ?), (?, ?)`. */
export function repeated(count: number, element: string, separator = ", "): string {
  return Array(count).fill(element).join(separator);
}
