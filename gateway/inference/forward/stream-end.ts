const type = String.raw`(?:message_stop|response\.(?:completed|failed|incomplete))`;
const lastEvent = new RegExp(String.raw`^(?:event: ?${type}[\r\n]|data: ?\{"type": ?"${type}"|data: ?\[DONE\]$)`);

/** Whether no event of a stream follows this one, given its beginning. */
export function isLastEvent(event: string): boolean {
  return lastEvent.test(event);
}
