import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../api/api-error.ts";
import { ActionButton } from "./action-button.tsx";
import { Dialog } from "./dialog.tsx";
import { ErrorPanel } from "./error-panel.tsx";

interface FormDialogProps {
  readonly title: string;
  /** The label of the submit button. */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Why it cannot be submitted yet; undefined if it can. */
  readonly reason?: string | undefined;
  readonly close: () => void;
  /** Throws if it failed; the error is shown, and the form stays as it is. */
  readonly submit: () => Promise<void>;
  /** What an error means here, if the API's own message is meant for programs; undefined if that message will do. */
  readonly explain?: (error: ApiError) => ComponentChildren;
  /** Receives a function that returns what is wrong with the field at a path of the body. */
  readonly children: (faultOf: (path: string) => string | undefined) => ComponentChildren;
}

/** A form, or a confirmation, in a dialog. */
export function FormDialog(props: FormDialogProps) {
  const { title, action, isDangerous = false, reason, close, submit, explain, children } = props;
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const faultOf = (path: string): string | undefined => {
    const isBelow = (each: string): boolean => each === path || each.startsWith(`${path}[`);
    return error?.issues.find((issue) => isBelow(issue.path))?.message;
  };
  const onSubmit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (isBusy || reason !== undefined) return;
    setBusy(true);
    setError(undefined);
    try {
      await submit();
    } catch (thrown) {
      setError(asApiError(thrown));
    }
    setBusy(false);
  };
  const form = useRef<HTMLFormElement>(null);
  // The button can be pressed from anywhere in a long form, but an error is shown at its end.
  useEffect(() => {
    if (error) form.current?.querySelector(".error-panel")?.scrollIntoView({ block: "nearest" });
  }, [error]);
  return (
    <Dialog title={title} close={close} isDismissible={!isBusy}>
      <form class="stack" ref={form} onSubmit={onSubmit}>
        {children(faultOf)}
        {error && <ErrorPanel error={error}>{explain?.(error)}</ErrorPanel>}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          <ActionButton isSubmit class={isDangerous ? "danger" : "primary"} reason={reason} isBusy={isBusy}>
            {action}
          </ActionButton>
        </div>
      </form>
    </Dialog>
  );
}
