/**
 * The number of edits (change, insert, delete, swap with the next letter) between two words; anything above `max` if it
 * is more. Only cells within `max` of the diagonal are computed, so it takes time in proportion to the length.
 */
export function countEdits(a: string, b: string, max: number): number {
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
