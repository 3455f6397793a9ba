import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { placeBelow } from "./place-below.ts";

interface ActionButtonProps {
  readonly children: ComponentChildren;
  /** Not needed if the button submits a form. */
  readonly run?: (() => void) | undefined;
  /**
   * Why it cannot be used; undefined if it can. The button stays in the tab order, and the reason is shown while the
   * button has the focus or is hovered.
   */
  readonly reason?: string | undefined;
  readonly isBusy?: boolean;
  /** Whether something else is under way that must end first. */
  readonly isPaused?: boolean;
  readonly isSubmit?: boolean;
  readonly class?: string;
  readonly label?: string;
  /** The tooltip while the button can be used, such as its shortcut. */
  readonly title?: string;
}

/** A button for something that is not always possible, or not for everybody. */
export function ActionButton(props: ActionButtonProps) {
  const { children, run, reason, isBusy = false, isPaused = false, isSubmit = false } = props;
  const { class: extra = "", label, title } = props;
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const bubble = useRef<HTMLSpanElement>(null);
  const isOff = reason !== undefined || isBusy || isPaused;
  const wasClicked = useRef(false);
  const show = (): void => {
    if (!bubble.current || !button.current) return;
    bubble.current.togglePopover(true);
    placeBelow(bubble.current, button.current, 0);
  };
  const hide = (): void => void bubble.current?.togglePopover(false);
  return (
    // Around both, so that the pointer can rest on the reason.
    <span
      class="action"
      onPointerEnter={show}
      onPointerLeave={() => button.current !== document.activeElement && hide()}
    >
      <button
        type={isSubmit ? "submit" : "button"}
        class={`button ${extra}`}
        ref={button}
        aria-disabled={isOff ? "true" : undefined}
        aria-busy={isBusy ? "true" : undefined}
        aria-describedby={reason ? id : undefined}
        aria-label={label}
        title={reason ? undefined : title}
        onFocus={show}
        onBlur={hide}
        onKeyDown={(event) => event.key === "Escape" && hide()}
        onClick={(event) => {
          // The second click of a double click is meant for the button that was here at the first one.
          if (event.detail > 1 && !wasClicked.current) return event.preventDefault();
          wasClicked.current = true;
          if (isOff) {
            event.preventDefault();
            // In Safari, a tap does not, and the reason would be gone with the finger.
            button.current?.focus();
          } else run?.();
        }}
      >
        {children}
      </button>
      {reason && (
        <span id={id} class="reason" role="tooltip" popover="manual" ref={bubble}>
          {reason}
        </span>
      )}
    </span>
  );
}
