const type = String.raw`(?:message_stop|response\.(?:completed|failed|incomplete))`;

const lastEvent = new RegExp(
  String.raw`(?:^|[\r\n])data: ?(?:\[DONE\]|\{"type": ?"${type}"[^\r\n]*)[\r\n]+$|(?:^|[\r\n])event: ?${type}[\r\n]+data:[^\r\n]*[\r\n]+$`,
);

/** Whether a stream ends with the event that none follows, given its last bytes. */
export function endsWithLastEvent(tail: string): boolean {
  return lastEvent.test(tail);
}
