import { Ajv } from "ajv";
import type { TSchema } from "typebox";
import type { FieldViolation } from "../../services/platform/domain-error.ts";
import { isId } from "../../services/platform/ids.ts";
import { violationsFrom } from "./violations.ts";

/** What parameters and small bodies are checked with. Nothing is coerced: a caller is told, not guessed at. */
export const ajv = new Ajv({ allErrors: true, useDefaults: true, verbose: true, allowUnionTypes: true });
ajv.addFormat("uuid", isId);

/** Every violation of a value against a schema. */
export function validator(schema: TSchema): (value: unknown) => FieldViolation[] {
  const validate = ajv.compile(schema);
  return (value) => (validate(value) ? [] : violationsFrom(validate.errors ?? []));
}
