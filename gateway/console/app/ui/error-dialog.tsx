import type { ApiError } from "../api/api-error.ts";
import { Dialog } from "./dialog.tsx";
import { ErrorPanel } from "./error-panel.tsx";

interface ErrorDialogProps {
  readonly title: string;
  readonly error: ApiError;
  readonly close: () => void;
}

/** What has become of a click that was not carried out. */
export function ErrorDialog({ title, error, close }: ErrorDialogProps) {
  return (
    <Dialog title={title} close={close}>
      <ErrorPanel error={error} />
      <div class="dialog-actions">
        <button type="button" class="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
