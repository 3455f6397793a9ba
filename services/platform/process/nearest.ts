import { countEdits } from "../domain/edit-distance.ts";

/** The word that was most likely meant; undefined if none is near. */
export function nearest(given: string, words: readonly string[]): string | undefined {
  const near = words
    .map((word) => ({ word, ...editsTo(given, word) }))
    .filter(({ edits, max }) => edits <= max)
    .sort((a, b) => a.edits - b.edits)[0]?.word;
  return near ?? words.find((word) => given.length > 1 && (word.startsWith(given) || word.endsWith(given)));
}

function editsTo(given: string, word: string): { readonly edits: number; readonly max: number } {
  const max = Math.floor(Math.max(given.length, word.length) / 3);
  return { edits: countEdits(given, word, max), max };
}
