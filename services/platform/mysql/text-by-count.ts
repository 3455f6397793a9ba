/**
 * The text of a statement about so many rows, written once for each count: one that is put together anew for every call is
 * copied and hashed again wherever it is looked up. The caller sees to it that there are not too many rows.
 */
export function textByCount(write: (count: number) => string): (count: number) => string {
  const texts: string[] = [];
  return (count) => (texts[count] ??= write(count));
}

/** The same element so often: `(?, ?), (?, ?)`. */
export function repeated(count: number, element: string, separator = ", "): string {
  return Array(count).fill(element).join(separator);
}
