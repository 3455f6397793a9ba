import type { ServerResponse } from "node:http";

const [carriageReturn, lineFeed] = [0x0d, 0x0a];

/** Larger ones are written as they are: to copy them would cost more than to write in parts. */
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
  const size = `${chunk.length.toString(16)}\r\n`;
  const end = size.length + chunk.length;
  const frame = Buffer.allocUnsafe(end + 2);
  frame.write(size, 0, "latin1");
  frame.set(chunk, size.length);
  frame[end] = carriageReturn;
  frame[end + 1] = lineFeed;
  return frame;
}
