import { useLayoutEffect } from "preact/hooks";
import { hasShortcuts } from "./preferences.ts";

/** Runs something on a single key, unless somebody is typing, a dialog is open, or shortcuts are switched off. */
export function useShortcut(key: string, run: () => void): void {
  // As soon as the page is shown, because the first keystroke may follow at once.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (!hasShortcuts.value || isTyping(event) || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      run();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [key, run]);
}

function isTyping(event: KeyboardEvent): boolean {
  // The first target in the path, because an editor may be in a shadow tree.
  const target = event.composedPath()[0];
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  );
}
