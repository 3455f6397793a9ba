import { useState } from "preact/hooks";

/**
 * Finds which fields were changed in a form since it was opened. Only these are sent, so that a colleague's changes
 * stay, even if the console has learned of them by now.
 */
export function useOwnChanges<T extends object>(shown: T | undefined): (fields: Partial<T>) => Partial<T> {
  const [opened] = useState(shown);
  return (fields) => {
    const changed = Object.entries(fields).filter(([name, value]) => !isSame(value, opened?.[name as keyof T]));
    return Object.fromEntries(changed) as Partial<T>;
  };
}

/** Compares values of the API, which may be lists. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
