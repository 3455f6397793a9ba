import { type FieldViolation, violationsMax } from "../domain/domain-error.ts";
import { type MemberOutline, wordEnd } from "./json-outline.ts";
import { pathsTo } from "./json-paths.ts";

/**
 * The numbers within these members that a double cannot represent, so that most readers of the JSON would get another
 * number.
 */
export function numberViolations(
  {
    text,
    longNumbers,
    path,
  }: { readonly text: string; readonly longNumbers: readonly number[]; readonly path: string },
  members: readonly { readonly place: MemberOutline }[],
): FieldViolation[] {
  if (longNumbers.length === 0) return [];
  const faults = new Map<number, string>();
  for (const { place } of members) {
    for (let index = place.numbersFrom; index < place.numbersTo && faults.size < violationsMax; index++) {
      const at = longNumbers[index] as number;
      const fault = numberFault(text.slice(at, wordEnd(text, at)));
      if (fault !== undefined) faults.set(at, fault);
    }
  }
  if (faults.size === 0) return [];
  const paths = pathsTo(text, path, faults.keys());
  return faults
    .entries()
    .map(([at, message]) => ({ path: paths.get(at) ?? path, message }))
    .toArray();
}

/** The largest integer that a double can represent has this many digits. */
const integerDigitsMax = 309;

function numberFault(literal: string): string | undefined {
  // A fraction or an exponent indicates that the number is not meant to be exact.
  const isInteger = !/[.eE]/.test(literal);
  const value = isInteger && literal.length > integerDigitsMax + 1 ? Number.POSITIVE_INFINITY : Number(literal);
  if (!Number.isFinite(value)) return "must be a number that fits in a double";
  if (!isInteger || Number.isSafeInteger(value) || BigInt(literal) === BigInt(value)) return undefined;
  return `must be an integer that a double holds exactly; this one would be read as ${BigInt(value)}`;
}
