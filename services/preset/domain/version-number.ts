import { invalidRequest } from "../../platform/domain-error.ts";

export function checkVersionNumber(version: number): void {
  if (version < 1) throw invalidRequest([{ path: "version", message: "must be at least 1" }]);
}
