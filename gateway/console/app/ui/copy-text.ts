import { announce } from "../shell/announcer.tsx";
import { showToast } from "../shell/toasts.tsx";

/** Copies a text, and returns whether the browser allowed that. `what` follows "Copied". */
export async function copyText(text: string, what: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    showToast(`The browser did not let ${what} be copied. Select the text and copy it by hand.`);
    return false;
  }
  announce(`Copied ${what}.`);
  return true;
}

/** The same, confirmed by a toast, for an action without a button that could show success. */
export async function copyAndConfirm(text: string, what: string): Promise<void> {
  if (await copyText(text, what)) showToast(`Copied ${what}.`);
}
