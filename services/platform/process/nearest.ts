/** The word that was most likely meant; undefined if none is near. */
export function nearest(given: string, words: readonly string[]): string | undefined {
  const near = words
    .map((word) => ({ word, distance: distanceOf(given, word) }))
    .filter(({ word, distance }) => distance <= Math.max(given.length, word.length) / 3)
    .sort((a, b) => a.distance - b.distance)[0]?.word;
  return near ?? words.find((word) => given.length > 1 && (word.startsWith(given) || word.endsWith(given)));
}

/** How many letters must be changed, added or left out to make one word of the other. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...a].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...b].entries()) {
      const change = (row[column] as number) + (letter === other ? 0 : 1);
      next.push(Math.min(change, (row[column + 1] as number) + 1, (next[column] as number) + 1));
    }
    row = next;
  }
  return row.at(-1) as number;
}
