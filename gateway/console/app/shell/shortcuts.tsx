import { signal } from "@preact/signals";
import { reasonForbidden } from "../api/session.ts";
import type { SessionWorkspace } from "../api/types.ts";
import { Dialog } from "../ui/dialog.tsx";
import { navigate } from "./location.ts";
import { hasShortcuts } from "./preferences.ts";
import { newPresetHref, presetsHref } from "./preset-hrefs.ts";
import { showToast } from "./toasts.tsx";
import { useShortcut } from "./use-shortcut.ts";

const isOpen = signal(false);

/** The name of the modifier key for the palette on this platform. */
export const heldKey = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl";

export function openShortcuts(): void {
  isOpen.value = true;
}

type Row = readonly [keys: readonly string[], what: string];

const groups: readonly (readonly [where: string, rows: readonly Row[]])[] = [
  [
    "Everywhere",
    [
      [[heldKey, "K"], "Search and commands"],
      [["/"], "Search the list, or the presets"],
      [["g"], "Go to the presets"],
      [["c"], "Create a preset"],
      [["?"], "This list"],
    ],
  ],
  [
    "In the list of presets",
    [
      [["j"], "Next preset"],
      [["k"], "Previous preset"],
    ],
  ],
  [
    "On a preset",
    [
      [["e"], "Edit this version"],
      [["t"], "Try this version"],
    ],
  ],
  [
    "In a comparison",
    [
      [["n"], "Next change"],
      [["p"], "Previous change"],
    ],
  ],
  ["While writing a version or a message", [[[heldKey, "Enter"], "Continue: review or send it"]]],
];

/** The shortcuts that work everywhere, and the list of all shortcuts. */
export function Shortcuts({ workspace }: { readonly workspace: SessionWorkspace }) {
  useShortcut("?", openShortcuts);
  useShortcut("g", () => navigate(presetsHref(workspace)));
  useShortcut("c", () => {
    const reason = reasonForbidden("write");
    if (reason) showToast(reason);
    else navigate(newPresetHref(workspace));
  });
  useShortcut("/", () => {
    const search = document.querySelector<HTMLInputElement>("search input");
    if (search) search.focus();
    else navigate(presetsHref(workspace));
  });
  if (!isOpen.value) return null;
  const close = (): void => {
    isOpen.value = false;
  };
  return (
    <Dialog title="Keyboard shortcuts" close={close} isText>
      {groups.map(([where, rows]) => (
        <section key={where} class="stack-tight">
          <h3 class="shortcut-title">{where}</h3>
          <dl class="shortcut-list">
            {rows.map(([keys, what]) => (
              <>
                <dt>
                  {keys.map((key) => (
                    <>
                      <kbd>{key}</kbd>{" "}
                    </>
                  ))}
                </dt>
                <dd>{what}</dd>
              </>
            ))}
          </dl>
        </section>
      ))}
      <label class="choice">
        <input
          type="checkbox"
          checked={hasShortcuts.value}
          onChange={(event) => {
            hasShortcuts.value = event.currentTarget.checked;
          }}
        />
        <span>Use single-key shortcuts. {heldKey} K always works.</span>
      </label>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
