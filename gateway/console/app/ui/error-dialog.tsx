import type { ComponentChildren } from "preact";
import type { ApiError } from "../api/api-error.ts";
import { Dialog } from "./dialog.tsx";
import { ErrorPanel } from "./error-panel.tsx";

interface ErrorDialogProps {
  readonly title: string;
  readonly error: ApiError;
  readonly close: () => void;
  /** An explanation for the reader, in place of the error's message. */
  readonly children?: ComponentChildren;
}

/** Says that an action was not carried out, and why. */
export function ErrorDialog({ title, error, close, children }: ErrorDialogProps) {
  return (
    <Dialog title={title} close={close}>
      <ErrorPanel error={error}>{children}</ErrorPanel>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
