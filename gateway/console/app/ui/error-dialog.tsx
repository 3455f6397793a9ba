import type { ComponentChildren } from "preact";
import type { ApiError } from "../api/api-error.ts";
import { Dialog } from "./dialog.tsx";
import { ErrorPanel } from "./error-panel.tsx";

interface ErrorDialogProps {
  readonly title: string;
  readonly error: ApiError;
  readonly close: () => void;
  /** What it means for whoever sees it, in place of its message. */
  readonly children?: ComponentChildren;
}

/** What has become of a click that was not carried out. */
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
