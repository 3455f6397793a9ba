import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { focusHeading } from "./focus-heading.ts";

/**
 * A dialog that is open while it is mounted. The browser keeps the focus inside; afterwards it returns to where it was.
 */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next keystroke, so that whoever keeps typing loses no letter.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    return () => {
      // Nothing else can take the focus while a modal dialog is open.
      element?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
      // It may have been inside a dialog that this one replaced.
      else focusHeading();
    };
  }, []);
  return dialog;
}
