import { useLayoutEffect } from "preact/hooks";
import { hasShortcuts } from "./preferences.ts";

/** Runs something for a single key, unless one is typing, a dialog is open, or such keys are switched off. */
export function useShortcut(key: string, run: () => void): void {
  // As soon as the page is shown: a key may come at once.
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
  // The first of the path, for an editor may be in a shadow tree.
  const target = event.composedPath()[0];
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  );
}
