/**
 * Places an element of the top layer below a control, or above it if there is no room, always inside the window. If the
 * control is in the right half of the window, their right edges are aligned.
 */
export function placeBelow(element: HTMLElement, control: HTMLElement, gap: number): void {
  const { top, bottom, left, right } = control.getBoundingClientRect();
  const { offsetWidth, offsetHeight, style } = element;
  const { clientWidth } = document.documentElement;
  const margin = 8;
  const wanted = left + right > clientWidth ? right - offsetWidth : left;
  const lowest = innerHeight - offsetHeight - margin;
  const above = top - gap - offsetHeight;
  const isBelow = bottom + gap <= lowest || above < margin;
  style.left = `${Math.max(margin, Math.min(wanted, clientWidth - offsetWidth - margin))}px`;
  style.top = `${isBelow ? Math.max(margin, Math.min(bottom + gap, lowest)) : above}px`;
}
