import { Ajv, type ErrorObject } from "ajv";
import type { TObject } from "typebox";
import { invalidRequest } from "../../services/platform/domain/domain-error.ts";
import { isId } from "../../services/platform/domain/ids.ts";
import { hasTooManyParameters, parametersMax, type Query, queryReader } from "./query.ts";

/** Checks parameters. Nothing is coerced: what is wrong is refused, and not guessed at. */
const ajv = new Ajv({ allErrors: true, useDefaults: true, verbose: true, allowUnionTypes: true });
ajv.addFormat("uuid", isId);

/** Reads the parameters of a query or a path by their schema, in place, and checks them. */
export function parameterValidator(schema: TObject) {
  const read = queryReader(schema.properties);
  const validate = ajv.compile(schema);
  return (parameters: Query) => {
    if (hasTooManyParameters(parameters)) {
      return { error: invalidRequest([{ path: "query", message: `must have at most ${parametersMax} parameters` }]) };
    }
    read(parameters);
    return validate(parameters) || { error: (validate.errors ?? []).map(withoutLists) };
  };
}

/** A list stands for a parameter that was repeated: its caller has sent none, and would not know what is meant. */
function withoutLists(error: ErrorObject): ErrorObject {
  const isRepeated = error.keyword === "type" && Array.isArray(error.data);
  return isRepeated ? { ...error, keyword: "repeated", message: "must be given once" } : error;
}
