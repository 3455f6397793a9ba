/** Whether one of the texts contains a search text. Case and accents do not matter: nobody types them into a search. */
export function hasText(texts: readonly string[], q: string): boolean {
  const wanted = plain(q);
  return texts.some((text) => plain(text).includes(wanted));
}

function plain(text: string): string {
  return text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
}
