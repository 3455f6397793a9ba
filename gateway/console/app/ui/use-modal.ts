import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { focusHeading } from "./focus-heading.ts";

/** A dialog that is open for as long as it is there. The browser keeps the focus in it; then it is where it was before. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next key comes: whoever types on at once loses no letter.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    return () => {
      // Nothing else takes the focus for as long as a modal dialog is open.
      element?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
      // It may have been in a dialog that this one took the place of.
      else focusHeading();
    };
  }, []);
  return dialog;
}
