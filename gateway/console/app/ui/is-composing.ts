/**
 * Whether a key is meant for an input method, such as the Enter that confirms a Japanese word. Safari sends that Enter
 * after the composition has ended, so there only the key code tells.
 */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}
