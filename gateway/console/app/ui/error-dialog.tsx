import type { ComponentChildren } from "preact";
import type { ApiError } from "../api/api-error.ts";
import { isOutcomeUnknown, unreachable } from "../api/request.ts";
import { Dialog } from "./dialog.tsx";
import { ErrorPanel } from "./error-panel.tsx";

interface ErrorDialogProps {
  readonly title: string;
  readonly error: ApiError;
  readonly close: () => void;
  /** An explanation for the reader, in place of the error's message. */
  readonly children?: ComponentChildren;
}

/** Says that an action was not carried out, and why. If that is not certain, says so, and that a retry is safe. */
export function ErrorDialog({ title, error, close, children }: ErrorDialogProps) {
  const isSilent = error.message === unreachable;
  const isUnknown = isOutcomeUnknown(error);
  const what = isSilent
    ? "The gateway cannot be reached, or the connection was lost: the change may have been made. Check the connection, then try again."
    : error.message;
  return (
    <Dialog
      title={isSilent ? "No answer arrived" : isUnknown ? "The change may not have been made" : title}
      close={close}
    >
      <ErrorPanel error={error}>
        {isUnknown ? <p>{what} It is made once, however often you try.</p> : children}
      </ErrorPanel>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
