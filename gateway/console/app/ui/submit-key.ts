/** Ctrl or Cmd with Enter presses the main button of a form: Enter alone starts a new line in its text fields. */
export function submitByKey(event: KeyboardEvent): void {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
  event.preventDefault();
  (event.currentTarget as HTMLFormElement).requestSubmit();
}
