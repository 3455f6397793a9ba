// What was written in a tab survives a reload. Each tab has its own drafts, and whoever signs in next sees none of
// them.

export function findStored<T>(name: string): T | undefined {
  const text = sessionStorage.getItem(name);
  return text === null ? undefined : (JSON.parse(text) as T);
}

/** The names of everything that is stored under names that begin like this. */
export function storedNames(beginning: string): readonly string[] {
  return Object.keys(sessionStorage).filter((name) => name.startsWith(beginning));
}

/** Returns whether the browser had room. If not, the value lasts only as long as the page. */
export function store(name: string, value: unknown): boolean {
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

export function deleteStored(name: string): void {
  sessionStorage.removeItem(name);
}
