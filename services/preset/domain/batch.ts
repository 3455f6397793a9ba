import { invalidRequest } from "../../platform/domain/domain-error.ts";

const batchMax = 100;

/** A batch comes in one of two lists: `path`, authorized by the call's token, or `pathOnBehalf`, each part by its own. */
export function checkBatch(
  [path, parts]: readonly [string, readonly unknown[]],
  [pathOnBehalf, partsOnBehalf]: readonly [string, readonly unknown[]],
): void {
  if (parts.length > 0 && partsOnBehalf.length > 0) {
    throw invalidRequest([{ path: pathOnBehalf, message: `must be empty if there are ${path}` }]);
  }
  const count = parts.length + partsOnBehalf.length;
  if (count >= 1 && count <= batchMax) return;
  throw invalidRequest([
    { path: partsOnBehalf.length > 0 ? pathOnBehalf : path, message: `must have 1 to ${batchMax} elements` },
  ]);
}
