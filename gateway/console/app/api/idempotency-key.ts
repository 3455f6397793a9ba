import { useRef } from "preact/hooks";

/**
 * The header that names what a form sends: the same for as long as the body is the same, so that a second try after a lost
 * answer does not do it twice.
 */
export function useIdempotencyKey(): (body: object) => { readonly "idempotency-key": string } {
  const last = useRef<{ readonly body: string; readonly key: string } | undefined>(undefined);
  return (body) => {
    const text = JSON.stringify(body);
    if (last.current?.body !== text) last.current = { body: text, key: crypto.randomUUID() };
    return { "idempotency-key": last.current.key };
  };
}
