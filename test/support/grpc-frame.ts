/** A gRPC frame: uncompressed and with the right length, unless it is meant to lie about that. */
export function grpcFrame(message: Uint8Array, { flags = 0, length = message.length } = {}): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flags);
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, message]);
}
