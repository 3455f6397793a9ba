import { Buffer } from "node:buffer";
import type { ServerResponse } from "node:http";

const [carriageReturn, lineFeed] = [0x0d, 0x0a];
const hexDigits = Buffer.from("0123456789abcdef");

/** Larger ones are written as they are: to copy them would cost more than to write in parts. The size has at most four digits. */
const framedBytesMax = 16 * 1024;

/**
 * Writes a piece of a body that is sent in chunks, in one piece with what HTTP has around it. Node's own response makes
 * four writes of it, gathers them and sends them later, which costs more than all else that is done for a small piece.
 * Only for a response whose head is sent. Whether the client takes more at once is told as by `write`; that it does again, by the socket.
 */
export function writeChunk(response: ServerResponse, chunk: Buffer): boolean {
  const { socket } = response;
  // Where its turn on the connection has not come, Node keeps it.
  if (!socket || !response.chunkedEncoding || chunk.length > framedBytesMax || chunk.length === 0) {
    return response.write(chunk);
  }
  return socket.write(framed(chunk));
}

function framed(chunk: Buffer): Buffer {
  const { length } = chunk;
  const digits = length < 0x10 ? 1 : length < 0x100 ? 2 : length < 0x1000 ? 3 : 4;
  const frame = Buffer.allocUnsafe(digits + length + 4);
  for (let at = digits - 1, left = length; at >= 0; at -= 1, left >>= 4) frame[at] = hexDigits[left & 0xf] as number;
  frame[digits] = carriageReturn;
  frame[digits + 1] = lineFeed;
  frame.set(chunk, digits + 2);
  frame[digits + 2 + length] = carriageReturn;
  frame[digits + 3 + length] = lineFeed;
  return frame;
}
