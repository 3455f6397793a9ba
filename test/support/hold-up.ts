/** Nothing else runs in this process for so long, as where its machine is busy or asleep. What arrives waits in its sockets. */
export function holdUp(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
