import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
export const collectGarbage = runInNewContext("gc") as () => void;

/** What is in use on the heap. */
export function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** What buffers take. They are freed some time after they became garbage. */
export function bufferBytes(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}
