import { useEffect, useState } from "preact/hooks";

/** A value once it has stayed the same for a while: what is typed is not asked for letter by letter. */
export function useSettled<T>(value: T, delayMs: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(() => value), delayMs);
    return () => clearTimeout(timer);
  }, [value, delayMs]);
  return settled;
}
