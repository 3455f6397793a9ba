import type { ComponentChildren } from "preact";
import type { ApiError } from "../api/api-error.ts";
import { unreachable } from "../api/request.ts";
import { Dialog } from "./dialog.tsx";
import { ErrorPanel } from "./error-panel.tsx";

interface ErrorDialogProps {
  readonly title: string;
  readonly error: ApiError;
  readonly close: () => void;
  /** An explanation for the reader, in place of the error's message. */
  readonly children?: ComponentChildren;
}

/** Says that an action was not carried out, and why. If no response came, says that the outcome is unknown. */
export function ErrorDialog({ title, error, close, children }: ErrorDialogProps) {
  const isUnknown = error.message === unreachable;
  return (
    <Dialog title={isUnknown ? "No answer arrived" : title} close={close}>
      <ErrorPanel error={error}>
        {isUnknown ? (
          <p>
            The gateway cannot be reached, or the connection was lost: the change may have been made. Check the
            connection, then try again. It is made once, however often you try.
          </p>
        ) : (
          children
        )}
      </ErrorPanel>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
