import { invalidRequest } from "../../platform/domain/domain-error.ts";

const batchMax = 100;

/** A batch comes in one of two lists: `path`, authorized by the call's token, or `pathInName`, each part by its own. */
export function checkBatch(
  [path, parts]: readonly [string, readonly unknown[]],
  [pathInName, partsInName]: readonly [string, readonly unknown[]],
): void {
  if (parts.length > 0 && partsInName.length > 0) {
    throw invalidRequest([{ path: pathInName, message: `must be empty if there are ${path}` }]);
  }
  const count = parts.length + partsInName.length;
  if (count >= 1 && count <= batchMax) return;
  throw invalidRequest([
    { path: partsInName.length > 0 ? pathInName : path, message: `must have 1 to ${batchMax} elements` },
  ]);
}
