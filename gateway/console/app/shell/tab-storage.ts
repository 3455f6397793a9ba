// What was written in a tab outlives a reload. Two tabs are two drafts, and whoever signs in next sees none of it.

export function findKept<T>(name: string): T | undefined {
  const text = sessionStorage.getItem(name);
  return text === null ? undefined : (JSON.parse(text) as T);
}

/** Returns whether the browser had room for it: what it has not lives as long as the page. */
export function keep(name: string, value: unknown): boolean {
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

export function dropKept(name: string): void {
  sessionStorage.removeItem(name);
}
