import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  /** Whether Escape and a click beside it close it. Not where that would lose something. */
  readonly isEasyToClose?: boolean;
  readonly children: ComponentChildren;
}

/** A modal dialog that is open for as long as it is there. The browser keeps the focus in it and gives it back. */
export function Dialog({ title, close, isEasyToClose = true, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const isTouched = useRef(false);
  // Before the next key comes: whoever types on at once loses no letter.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      class="dialog"
      ref={dialog}
      aria-labelledby={titleId}
      // A second Escape closes a dialog whatever its cancel event says, unless no key closes it at all.
      closedby={isEasyToClose ? "closerequest" : "none"}
      onKeyDown={(event) => {
        if (event.key === "Escape" && !isEasyToClose) event.preventDefault();
      }}
      onCancel={(event) => {
        event.preventDefault();
        if (isEasyToClose) close();
      }}
      onInput={() => {
        isTouched.current = true;
      }}
      onMouseDown={(event) => {
        // A click that missed does not cost what was written.
        if (isEasyToClose && !isTouched.current && event.target === dialog.current) close();
      }}
    >
      <div class="dialog-body">
        <h2 id={titleId}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
