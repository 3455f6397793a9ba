/** Puts something of the top layer below a control, inside of the window; of one on the right side, to the left of its end. */
export function placeBelow(element: HTMLElement, control: HTMLElement, gap: number): void {
  const { bottom, left, right } = control.getBoundingClientRect();
  const { offsetWidth, offsetHeight, style } = element;
  const { clientWidth } = document.documentElement;
  const margin = 8;
  const wanted = left + right > clientWidth ? right - offsetWidth : left;
  style.left = `${Math.max(margin, Math.min(wanted, clientWidth - offsetWidth - margin))}px`;
  style.top = `${Math.max(margin, Math.min(bottom + gap, innerHeight - offsetHeight - margin))}px`;
}
