/** Where the focus goes when what had it is no longer there: to the beginning of the page, and not out of it. */
export function focusHeading(): void {
  document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
}
