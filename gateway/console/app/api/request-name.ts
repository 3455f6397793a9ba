import { useRef } from "preact/hooks";

/**
 * The Idempotency-Key of what a form sends: the same for as long as the body is the same, so that a second try after a lost
 * answer does not do it twice.
 */
export function useRequestName(): (body: object) => { readonly "idempotency-key": string } {
  const last = useRef<{ readonly body: string; readonly name: string } | undefined>(undefined);
  return (body) => {
    const text = JSON.stringify(body);
    if (last.current?.body !== text) last.current = { body: text, name: crypto.randomUUID() };
    return { "idempotency-key": last.current.name };
  };
}
