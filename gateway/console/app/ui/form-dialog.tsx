import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type ApiError, asApiError } from "../api/api-error.ts";
import { Dialog } from "./dialog.tsx";
import { ErrorPanel } from "./error-panel.tsx";

interface FormDialogProps {
  readonly title: string;
  /** What the button says that does it. */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Whether there is something to do yet. */
  readonly isReady?: boolean;
  readonly close: () => void;
  /** Throws where it did not come about; what it says is shown, and the form stays as it is. */
  readonly submit: () => Promise<void>;
  /** Gets what is wrong with the field at a path of the body. */
  readonly children: (faultOf: (path: string) => string | undefined) => ComponentChildren;
}

/** A form, or a question, in a dialog. */
export function FormDialog({
  title,
  action,
  isDangerous = false,
  isReady = true,
  close,
  submit,
  children,
}: FormDialogProps) {
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const faultOf = (path: string): string | undefined => {
    const isBelow = (each: string): boolean => each === path || each.startsWith(`${path}[`);
    return error?.issues.find((issue) => isBelow(issue.path))?.message;
  };
  const onSubmit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (isBusy || !isReady) return;
    setBusy(true);
    setError(undefined);
    try {
      await submit();
    } catch (thrown) {
      setError(asApiError(thrown));
    }
    setBusy(false);
  };
  return (
    <Dialog title={title} close={close} isEasyToClose={!isBusy}>
      <form class="stack" onSubmit={onSubmit}>
        {children(faultOf)}
        {error && <ErrorPanel error={error} />}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          <button
            type="submit"
            class={`button ${isDangerous ? "danger" : "primary"}`}
            aria-disabled={isBusy || !isReady ? "true" : undefined}
          >
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
