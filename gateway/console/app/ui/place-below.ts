/** Puts something of the top layer below a control, inside of the window. */
export function placeBelow(element: HTMLElement, control: HTMLElement, gap: number): void {
  const { bottom, left } = control.getBoundingClientRect();
  const { offsetWidth, offsetHeight, style } = element;
  const margin = 8;
  style.left = `${Math.max(margin, Math.min(left, document.documentElement.clientWidth - offsetWidth - margin))}px`;
  style.top = `${Math.max(margin, Math.min(bottom + gap, innerHeight - offsetHeight - margin))}px`;
}
