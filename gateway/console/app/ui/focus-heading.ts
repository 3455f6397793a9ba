/** Takes the focus when the element that had it is gone: to the beginning of the page rather than out of it. */
export function focusHeading(): void {
  document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
}
