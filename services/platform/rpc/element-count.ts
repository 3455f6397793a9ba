import { invalidRequest } from "../domain/domain-error.ts";

/** More than any sensible list of names or numbers has. */
export const elementsMax = 100;

/** Throws if a list of a request is longer than any that makes sense, before anything is done for each element. */
export function checkCount(path: string, { length }: readonly unknown[]): void {
  if (length > elementsMax) throw invalidRequest([{ path, message: `must have at most ${elementsMax} elements` }]);
}
