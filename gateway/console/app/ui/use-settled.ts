import { useEffect, useState } from "preact/hooks";

/** A text once it has stayed the same for a while, so that a search does not run at every letter. */
export function useSettled(text: string, delayMs: number): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), delayMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
