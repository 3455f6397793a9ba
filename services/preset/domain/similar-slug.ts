/** Typos are tried only up to this position. A slug with a typo further on sorts next to the one that was meant. */
const typoPositionsMax = 32;
const letterPositionsMax = 4;
const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
const separators = ["-", "_", "."];
const typosMax = 4;

/** Slugs to look up if there is none of this name: those one typo away, or with another spelling. */
export function spellingsNear(slug: string): string[] {
  const spellings = new Set([slug.toLowerCase()]);
  for (const separator of separators) {
    spellings.add(withSeparator(slug, separator));
    spellings.add(withSeparator(slug.toLowerCase(), separator));
  }
  for (let at = 0; at <= Math.min(slug.length, typoPositionsMax); at += 1) {
    const [before, letter, behind] = [slug.slice(0, at), slug.charAt(at), slug.slice(at + 1)];
    spellings.add(before + behind);
    spellings.add(before + behind.slice(0, 1) + letter + behind.slice(1));
    for (const added of at < letterPositionsMax ? [...letters, ...separators] : separators) {
      spellings.add(before + added + letter + behind);
      spellings.add(before + added + behind);
    }
  }
  spellings.delete("");
  spellings.delete(slug);
  return [...spellings];
}

/** The slug that was most likely meant; undefined if none is close. */
export function mostSimilar(slug: string, others: readonly string[]): string | undefined {
  const max = Math.min(typosMax, Math.floor(slug.length / 3));
  const given = withSeparator(slug.toLowerCase(), "-");
  let best: { readonly slug: string; readonly typos: number } | undefined;
  for (const other of others) {
    const typos = countTypos(given, withSeparator(other.toLowerCase(), "-"), max);
    if (typos > max || (best && (typos > best.typos || (typos === best.typos && other > best.slug)))) continue;
    best = { slug: other, typos };
  }
  return best?.slug;
}

function withSeparator(slug: string, separator: string): string {
  return slug.replaceAll(/[._~-]/g, separator);
}

/**
 * The number of edits (change, insert, delete, swap with the next letter) between two words; anything above `max` if it
 * is more. Only cells within `max` of the diagonal are computed, so it takes time in proportion to the length.
 */
function countTypos(a: string, b: string, max: number): number {
  const far = max + 1;
  if (Math.abs(a.length - b.length) > max) return far;
  let twoBefore: number[] = [];
  let before = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current: number[] = [row];
    for (let column = Math.max(1, row - max); column <= Math.min(b.length, row + max); column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        (before[column - 1] ?? far) + (isSame ? 0 : 1),
        (before[column] ?? far) + 1,
        (current[column - 1] ?? far) + 1,
        isSwapped ? (twoBefore[column - 2] ?? far) + 1 : far,
      );
    }
    [twoBefore, before] = [before, current];
  }
  return before[b.length] ?? far;
}
