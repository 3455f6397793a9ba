/** The kinds of frames (RFC 9113, 6). */
export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** Which of them apply depends on the type of frame. */
export const flags = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

export const errorCodes = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  enhanceYourCalm: 11,
} as const;

export const settings = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

export const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** How long a setting is, and what a ping holds. */
export const settingBytes = 6;
export const pingBytes = 8;
/** Before each payload: its length, and the type, flags and stream of the frame. */
export const frameHeadBytes = 9;
/** What either side may send in one frame unless the other allows more. */
export const frameBytesMax = 16_384;
/** The most that a peer can allow. */
export const frameBytesLimit = 2 ** 24 - 1;
/** What may be sent before the receiver has sent a window update. */
export const windowDefault = 65_535;
export const windowMax = 2 ** 31 - 1;
export const streamIdMax = 2 ** 31 - 1;

/** The peer broke a rule that the whole connection depends on. */
export class ConnectionError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** A ConnectionError for a rule whose violation has no code of its own. */
export function protocolError(message: string): ConnectionError {
  return new ConnectionError(errorCodes.protocol, message);
}

export function flowControlError(): ConnectionError {
  return new ConnectionError(errorCodes.flowControl, "A window is too large");
}
