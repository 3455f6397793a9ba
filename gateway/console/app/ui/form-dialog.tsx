import type { ComponentChildren } from "preact";
import type { Action } from "../api/use-action.ts";
import { Dialog } from "./dialog.tsx";
import { ErrorPanel } from "./error-panel.tsx";

interface FormDialogProps {
  readonly title: string;
  readonly action: Action;
  /** What the button says that does it. */
  readonly label: string;
  readonly isDangerous?: boolean;
  readonly submit: () => Promise<void>;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

/** A dialog that asks for something and does it. Where that is refused, it stays and says why. */
export function FormDialog({ title, action, label, isDangerous = false, submit, close, children }: FormDialogProps) {
  return (
    <Dialog title={title} close={close}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          action.run(submit);
        }}
      >
        {action.error && <ErrorPanel error={action.error} title="That was not done" />}
        {children}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          <button
            type="submit"
            class={`button ${isDangerous ? "danger" : "primary"}`}
            aria-disabled={action.isBusy ? "true" : undefined}
          >
            {label}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
