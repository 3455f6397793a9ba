let count = 0;

/** A name that nothing has yet. */
export function freshName(start: string): string {
  count += 1;
  return `${start}-${count}`;
}
