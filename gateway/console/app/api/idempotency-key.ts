import { useRef } from "preact/hooks";

/**
 * The idempotency header for a form. It stays the same as long as the body does, so that a retry after a lost response
 * does not do the same thing twice.
 */
export function useIdempotencyKey(): (body: object) => { readonly "idempotency-key": string } {
  const last = useRef<{ readonly body: string; readonly key: string } | undefined>(undefined);
  return (body) => {
    const text = JSON.stringify(body);
    if (last.current?.body !== text) last.current = { body: text, key: crypto.randomUUID() };
    return { "idempotency-key": last.current.key };
  };
}
