import type { Key } from "../../api/types.ts";

/** Whether a key is one that somebody looks for: by its name, its label, or whose it is. */
export function fitsSearch({ name, label }: Pick<Key, "name" | "label">, creatorName: string, q: string): boolean {
  const wanted = q.toLowerCase();
  return [name, label, creatorName].some((text) => text.toLowerCase().includes(wanted));
}

/**
 * Who wonders which key this is pastes all of it. Its label finds it as well, and a secret is to be neither in an address
 * nor on the screen.
 */
export function withoutSecret(text: string): string {
  return text.replace(/\b(sk-sp-v1-[\w-]{3})[\w-]{20,}([\w-]{3})(?![\w-])/g, "$1…$2");
}
