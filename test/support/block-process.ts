/** Blocks this process, as if its machine were busy or asleep. What arrives meanwhile waits in its sockets. */
export function blockProcess(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
