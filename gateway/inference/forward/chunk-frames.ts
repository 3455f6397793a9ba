import { Buffer } from "node:buffer";
import type { ServerResponse } from "node:http";

const [carriageReturn, lineFeed] = [0x0d, 0x0a];
const hexDigits = Buffer.from("0123456789abcdef");

/**
 * Larger chunks are left to Node: a copy would cost more than several writes. Sizes up to this have at most four
 * hexadecimal digits.
 */
const framedBytesMax = 16 * 1024;

/**
 * Writes a piece of a chunked body together with its chunk framing. Node's own response makes four writes of it,
 * collects them and sends them later, which costs more than everything else that is done for a small piece. Only for a
 * response whose headers are sent. Returns what `write` does; the `drain` that follows may be the socket's.
 */
export function writeChunk(response: ServerResponse, chunk: Buffer): boolean {
  const { socket } = response;
  // A response without a socket waits for its turn on the connection, and a corked one for the end of this turn of the
  // event loop: Node keeps what is written to it, and nothing may overtake that.
  const isHeldBack = !socket || response.writableCorked > 0;
  if (isHeldBack || !response.chunkedEncoding || chunk.length > framedBytesMax || chunk.length === 0) {
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
