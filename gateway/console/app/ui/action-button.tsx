import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface ActionButtonProps {
  readonly children: ComponentChildren;
  readonly run: () => void;
  /** Why it cannot be used; undefined where it can. It stays in the order of the keyboard, so that this is found. */
  readonly reason?: string | undefined;
  readonly isBusy?: boolean;
  readonly class?: string;
  readonly label?: string;
}

/** A button for something that not everybody may do at any time. */
export function ActionButton({ children, run, reason, isBusy = false, class: extra = "", label }: ActionButtonProps) {
  const id = useId();
  const isOff = reason !== undefined || isBusy;
  return (
    <>
      <button
        type="button"
        class={`button ${extra}`}
        aria-disabled={isOff ? "true" : undefined}
        aria-describedby={reason ? id : undefined}
        aria-label={label}
        title={reason}
        onClick={() => {
          if (!isOff) run();
        }}
      >
        {children}
      </button>
      {reason && (
        <span id={id} class="visually-hidden">
          {reason}
        </span>
      )}
    </>
  );
}
