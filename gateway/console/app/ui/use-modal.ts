import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** A dialog that is open for as long as it is there. The browser keeps the focus in it; then it is where it was before. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next key comes: whoever types on at once loses no letter.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return dialog;
}
