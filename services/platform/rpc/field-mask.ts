import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { type FieldViolation, invalidRequest } from "../domain/domain-error.ts";
import { checkCount } from "./element-count.ts";

/** What a field of the request says. A value that cannot be read is added to the violations. */
type FieldReader<Update extends object> = (violations: FieldViolation[]) => Update;

/**
 * The fields that a mask names, each read by the function of that name. A mask that names none, too many or unknown
 * ones is refused, together with all values that cannot be read. With `mayBeEmpty`, a mask may name none: it changes
 * nothing, but a missing one is still refused, because it was probably forgotten.
 */
export function fieldsOfMask<Update extends object>(
  mask: FieldMask | undefined,
  readers: Readonly<Record<string, FieldReader<Update>>>,
  { mayBeEmpty = false } = {},
): Update {
  const paths = mask?.paths ?? [];
  checkCount("update_mask.paths", paths);
  const violations: FieldViolation[] = [];
  if (paths.length === 0 && !(mask && mayBeEmpty)) {
    violations.push({ path: "update_mask", message: "must name at least one field" });
  }
  const fields = paths.map((path, index) => {
    const read = Object.hasOwn(readers, path) ? readers[path] : undefined;
    if (read) return read(violations);
    violations.push({ path: `update_mask.paths[${index}]`, message: "is not a field that can be changed" });
    return {};
  });
  if (violations.length > 0) throw invalidRequest(violations);
  return Object.assign({}, ...fields);
}
