/** Reverses a table such as that of an enum. A peer may send a number that is not in it. */
export function namesByNumber<Name extends string>(numbers: Readonly<Record<Name, number>>): ReadonlyMap<number, Name> {
  return new Map(Object.entries<number>(numbers).map(([name, number]) => [number, name as Name]));
}
