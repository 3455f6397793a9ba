import { flags, frameHeadBytes, frameTypes, settingBytes, settings } from "./protocol.ts";

/** A frame as it goes over the wire. */
export function frame(type: number, flagBits: number, streamId: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(frameHeadBytes + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flagBits;
  bytes.writeUInt32BE(streamId, 5);
  bytes.set(payload, frameHeadBytes);
  return bytes;
}

const noBytes = Buffer.alloc(0);

export function settingsFrame(values: Partial<Record<keyof typeof settings, number>>): Buffer {
  const entries = Object.entries(values) as [keyof typeof settings, number][];
  const payload = Buffer.allocUnsafe(settingBytes * entries.length);
  for (const [index, [name, value]] of entries.entries()) {
    payload.writeUInt16BE(settings[name], settingBytes * index);
    payload.writeUInt32BE(value, settingBytes * index + 2);
  }
  return frame(frameTypes.settings, 0, 0, payload);
}

export function settingsAckFrame(): Buffer {
  return frame(frameTypes.settings, flags.ack, 0, noBytes);
}

export function pingFrame(payload: Uint8Array, isAck: boolean): Buffer {
  return frame(frameTypes.ping, isAck ? flags.ack : 0, 0, payload);
}

export function windowUpdateFrame(streamId: number, bytes: number): Buffer {
  return numberFrame(frameTypes.windowUpdate, streamId, bytes);
}

export function rstStreamFrame(streamId: number, code: number): Buffer {
  return numberFrame(frameTypes.rstStream, streamId, code);
}

export function goawayFrame(lastStreamId: number, code: number): Buffer {
  const payload = Buffer.allocUnsafe(8);
  payload.writeUInt32BE(lastStreamId, 0);
  payload.writeUInt32BE(code, 4);
  return frame(frameTypes.goaway, 0, 0, payload);
}

function numberFrame(type: number, streamId: number, value: number): Buffer {
  const payload = Buffer.allocUnsafe(4);
  payload.writeUInt32BE(value, 0);
  return frame(type, 0, streamId, payload);
}
