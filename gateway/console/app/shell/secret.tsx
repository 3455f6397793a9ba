import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { ActionButton } from "../ui/action-button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Dialog } from "../ui/dialog.tsx";

interface ShownSecret {
  readonly title: string;
  /** What the secret is for, and how long an old one keeps working. */
  readonly note: string;
  readonly secret: string;
}

const shown = signal<ShownSecret | undefined>(undefined);

/**
 * Shows the secret of a key, which cannot be shown again. It belongs to no screen: it survives Back, and the end of a
 * session whose own key was rotated.
 */
export function showSecret(secret: ShownSecret): void {
  shown.value = secret;
}

export function Secret() {
  return shown.value ? <SecretDialog {...shown.value} /> : null;
}

function SecretDialog({ title, note, secret }: ShownSecret) {
  const [isStored, setStored] = useState(false);
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, []);
  const close = (): void => {
    shown.value = undefined;
  };
  return (
    <Dialog title={title} close={close} isDismissible={false}>
      <p class="wrap">{note}</p>
      <div class="secret">
        <code class="wrap">{secret}</code>
        <CopyButton text={secret} what="the key" />
      </div>
      <p class="secret-warning">
        <strong>This is the only time it is shown.</strong> Store it now where your programs find it, such as a secret
        manager. Only its hash is kept here.
      </p>
      <label class="choice">
        <input type="checkbox" checked={isStored} onChange={(event) => setStored(event.currentTarget.checked)} />
        <span>I stored it</span>
      </label>
      <div class="dialog-actions">
        <ActionButton
          class="primary"
          reason={isStored ? undefined : "Confirm first that you have stored it."}
          run={close}
        >
          Done
        </ActionButton>
      </div>
    </Dialog>
  );
}
