/** Ctrl or Cmd with Enter does what the main button of a form does: Enter alone is a new line in what is written there. */
export function submitByKey(event: KeyboardEvent): void {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
  event.preventDefault();
  (event.currentTarget as HTMLFormElement).requestSubmit();
}
