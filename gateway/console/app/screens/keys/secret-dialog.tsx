import { useState } from "preact/hooks";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";

interface SecretDialogProps {
  readonly name: string;
  readonly secret: string;
  readonly close: () => void;
}

/** The only time that a secret is seen. It closes only once somebody says that they have it. */
export function SecretDialog({ name, secret, close }: SecretDialogProps) {
  const [isStored, setStored] = useState(false);
  return (
    <Dialog title={`The key ${name}`} close={close} isEasyToClose={false}>
      <p>
        Copy it now and put it where it belongs. It is stored nowhere here and <strong>never shown again</strong>.
      </p>
      <div class="secret">
        <code class="wrap">{secret}</code>
        <CopyButton text={secret} what="the key" />
      </div>
      <label class="choice">
        <input type="checkbox" checked={isStored} onChange={(event) => setStored(event.currentTarget.checked)} />
        <span>I stored it</span>
      </label>
      <div class="dialog-actions">
        <button
          type="button"
          class="button primary"
          aria-disabled={isStored ? undefined : "true"}
          onClick={() => isStored && close()}
        >
          Done
        </button>
      </div>
    </Dialog>
  );
}
