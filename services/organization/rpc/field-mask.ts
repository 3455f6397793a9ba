import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { invalidRequest } from "../../platform/domain/domain-error.ts";

/**
 * The fields that a mask names, each read by the function of that name; a mask that names none, or an unknown one, is
 * refused.
 */
export function fieldsOfMask<Update extends object>(
  mask: FieldMask | undefined,
  readers: Readonly<Record<string, () => Update>>,
): Update {
  const paths = mask?.paths ?? [];
  if (paths.length === 0) throw invalidRequest([{ path: "update_mask", message: "must name at least one field" }]);
  const violations = paths.flatMap((path, index) =>
    Object.hasOwn(readers, path)
      ? []
      : [{ path: `update_mask.paths[${index}]`, message: "is not a field that can be changed" }],
  );
  if (violations.length > 0) throw invalidRequest(violations);
  return Object.assign({}, ...paths.map((path) => readers[path]?.()));
}
