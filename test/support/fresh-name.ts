let count = 0;

/** A name that has not been used yet. */
export function freshName(start: string): string {
  count += 1;
  return `${start}-${count}`;
}
