import { hasText } from "../../api/has-text.ts";
import type { Key } from "../../api/types.ts";

/** Whether a key matches a search by its name, its label, or the name of its creator. */
export function matchesSearch({ name, label }: Pick<Key, "name" | "label">, creatorName: string, q: string): boolean {
  return hasText([name, label, creatorName], q);
}

/**
 * People who wonder which key they have may paste the whole secret. Its label finds the key just as well, and a secret
 * must appear neither in an address nor on the screen.
 */
export function withoutSecret(text: string): string {
  return text.replace(/\b(sk-sp-v1-[\w-]{3})[\w-]{20,}([\w-]{3})(?![\w-])/g, "$1…$2");
}
