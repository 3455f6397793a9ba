import { signal } from "@preact/signals";
import { reasonNotTo } from "../api/session.ts";
import type { SessionWorkspace } from "../api/types.ts";
import { Dialog } from "../ui/dialog.tsx";
import { navigate } from "./location.ts";
import { hasShortcuts } from "./preferences.ts";
import { newPresetHref, presetsHref } from "./preset-hrefs.ts";
import { showToast } from "./toasts.tsx";
import { useShortcut } from "./use-shortcut.ts";

const isOpen = signal(false);

/** The key that is held for the palette, as the keyboard of this machine has it. */
export const heldKey = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl";

export function openShortcuts(): void {
  isOpen.value = true;
}

const rows: readonly (readonly [keys: string, what: string])[] = [
  ["/", "Search the presets"],
  ["g", "Go to the presets"],
  ["c", "Create a preset"],
  ["j", "In the list of presets: the next one"],
  ["k", "In the list of presets: the one before"],
  ["e", "On a preset: edit the version that is shown"],
  ["t", "On a preset: try the version that is shown"],
  ["n", "In a comparison: the next change"],
  ["p", "In a comparison: the change before"],
  ["?", "This list"],
];

/** The shortcuts that hold everywhere, and the list of all of them. */
export function Shortcuts({ workspace }: { readonly workspace: SessionWorkspace }) {
  useShortcut("?", openShortcuts);
  useShortcut("g", () => navigate(presetsHref(workspace)));
  useShortcut("c", () => {
    const reason = reasonNotTo("write");
    if (reason) showToast(reason);
    else navigate(newPresetHref(workspace));
  });
  useShortcut("/", () => {
    const search = document.querySelector<HTMLInputElement>("#preset-search");
    if (search) search.focus();
    else navigate(presetsHref(workspace));
  });
  if (!isOpen.value) return null;
  const close = (): void => {
    isOpen.value = false;
  };
  return (
    <Dialog title="Keyboard shortcuts" close={close}>
      <dl class="shortcut-list">
        <dt>
          <kbd>{heldKey}</kbd> <kbd>K</kbd>
        </dt>
        <dd>Search and commands</dd>
        <dt>
          <kbd>{heldKey}</kbd> <kbd>Enter</kbd>
        </dt>
        <dd>While writing a version or a message: go on with it</dd>
        {rows.map(([keys, what]) => (
          <>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </>
        ))}
      </dl>
      <label class="choice">
        <input
          type="checkbox"
          checked={hasShortcuts.value}
          onChange={(event) => {
            hasShortcuts.value = event.currentTarget.checked;
          }}
        />
        <span>Single keys are shortcuts. {heldKey} K always works.</span>
      </label>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
