import { invalidRequest } from "../../platform/domain/domain-error.ts";

const exchangesMax = 100;

export function checkExchanges(requests: readonly unknown[]): void {
  if (requests.length >= 1 && requests.length <= exchangesMax) return;
  throw invalidRequest([{ path: "requests", message: `must have 1 to ${exchangesMax} elements` }]);
}
