import { countEdits } from "../../platform/domain/edit-distance.ts";

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
    const typos = countEdits(given, withSeparator(other.toLowerCase(), "-"), max);
    if (typos > max || (best && (typos > best.typos || (typos === best.typos && other > best.slug)))) continue;
    best = { slug: other, typos };
  }
  return best?.slug;
}

function withSeparator(slug: string, separator: string): string {
  return slug.replaceAll(/[._~-]/g, separator);
}
