import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { useModal } from "./use-modal.ts";

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  /** Whether Escape or a click outside closes it. False if that would lose something. */
  readonly isDismissible?: boolean;
  /** Whether it is read from its beginning: then the title has the focus at first, and not the first control. */
  readonly isText?: boolean;
  readonly children: ComponentChildren;
}

/** A modal dialog with a title. */
export function Dialog({ title, close, isDismissible = true, isText = false, children }: DialogProps) {
  const dialog = useModal();
  const titleId = useId();
  const isTouched = useRef(false);
  return (
    <dialog
      class="dialog"
      ref={dialog}
      aria-labelledby={titleId}
      // A second Escape closes a dialog whatever its cancel handler does, unless `closedby` is "none".
      closedby={isDismissible ? "closerequest" : "none"}
      onKeyDown={(event) => {
        if (event.key === "Escape" && !isDismissible) event.preventDefault();
      }}
      onCancel={(event) => {
        event.preventDefault();
        if (isDismissible) close();
      }}
      onInput={() => {
        isTouched.current = true;
      }}
      onMouseDown={(event) => {
        // A click that misses must not discard what was written.
        if (isDismissible && !isTouched.current && event.target === dialog.current) close();
      }}
    >
      <div class="dialog-body">
        <h2 id={titleId} {...(isText ? { tabIndex: -1, autoFocus: true } : {})}>
          {title}
        </h2>
        {children}
      </div>
    </dialog>
  );
}
