import { invalidRequest } from "../../platform/domain-error.ts";

const batchMax = 100;

export function checkBatch(path: string, { length }: readonly unknown[]): void {
  if (length >= 1 && length <= batchMax) return;
  throw invalidRequest([{ path, message: `must have 1 to ${batchMax} elements` }]);
}
