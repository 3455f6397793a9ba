import { Buffer } from "node:buffer";
import { connect, type NetConnectOpts, type Socket } from "node:net";

/** All sockets read into this buffer. Data is copied out of it before another one reads. */
const buffer = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Opens a connection whose data does not pass through Node's streams. Node allocates memory for each read, and schedules
 * a task after it, which takes longer than parsing a short message. It can be used like any other, but only by `data`
 * events.
 */
export function connectLean(options: NetConnectOpts): Socket {
  const socket: Socket = connect({ ...options, onread: { buffer, callback: (count) => emitData(socket, count) } });
  return socket;
}

/** Returns whether to go on reading. */
function emitData(socket: Socket, count: number): boolean {
  socket.emit("data", Buffer.from(buffer.subarray(0, count)));
  return !socket.isPaused();
}
