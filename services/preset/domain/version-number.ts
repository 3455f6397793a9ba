import { invalidRequest } from "../../platform/domain-error.ts";

export function checkVersionNumber(path: string, version: number): void {
  if (version < 1) throw invalidRequest([{ path, message: "must be at least 1" }]);
}
