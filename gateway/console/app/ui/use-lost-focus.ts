import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/**
 * Takes the focus when a value has changed and the button that was pressed for it is gone: keyboard users must not start
 * again at the top of the page. On arrival, the focus stays where the browser has it: before "Skip to content".
 */
export function useLostFocus(element: RefObject<HTMLElement | null>, value: string | number | undefined): void {
  const before = useRef<typeof value>(undefined);
  useEffect(() => {
    const isArrival = before.current === undefined;
    before.current = value;
    if (!isArrival && document.activeElement === document.body) element.current?.focus({ preventScroll: true });
  }, [value]);
}
