const keyLengthMax = 80;

/**
 * The path of a member or list element, as a caller would write it: `tools[0].name`, `metadata["a b"]`. Keys are the
 * caller's own text, so a long one is truncated.
 */
export function fieldPath(parent: string, key: string | number): string {
  const name = String(key);
  const shown = name.length > keyLengthMax ? `${name.slice(0, keyLengthMax)}…` : name;
  if (/^\d+$/.test(shown)) return `${parent}[${shown}]`;
  if (/^[\w$…-]+$/.test(shown)) return parent === "" ? shown : `${parent}.${shown}`;
  return `${parent}[${JSON.stringify(shown)}]`;
}
