import { _, Ajv, type FuncKeywordDefinition, type SchemaObject, type ValidateFunction } from "ajv";
import type { FieldViolation } from "../domain/domain-error.ts";
import { isLongerThan } from "../domain/text-violations.ts";
import { violationsFrom } from "./schema-violations.ts";

/** What values must be. */
export interface SchemaCheck {
  readonly passes: (value: unknown) => boolean;
  /** The violations of a value at this path. */
  readonly violations: (value: unknown, path: string) => FieldViolation[];
}

const options = { allowUnionTypes: true, strictNumbers: false, verbose: true };
const untilFirstError = withMaxLength(new Ajv(options));
const untilEnd = withMaxLength(new Ajv({ ...options, allErrors: true }));

/** Many fields have the same schema, and compiling one takes milliseconds. */
const checks = new Map<string, SchemaCheck>();

/** The check of values against a schema. */
export function schemaCheck(schema: SchemaObject): SchemaCheck {
  // Open bounds are undefined, which JSON Schema does not know.
  const json = JSON.stringify(schema);
  const check = checks.get(json) ?? compile(JSON.parse(json));
  checks.set(json, check);
  return check;
}

/** In how many elements of a list every violation is collected. */
const elementsMax = 100;

/**
 * A value may have as many faults as elements; collecting all would take long, and nobody would read them. So all
 * errors are collected only from the first elements of a list or object, and a single error if those are valid.
 */
function compile(schema: SchemaObject): SchemaCheck {
  const isValid = untilFirstError.compile(schema);
  let isValidToEnd: ValidateFunction | undefined;
  // Only there, the caller's own keys become part of the paths that ajv builds.
  const isMap = typeof schema.additionalProperties === "object";
  const passes = isMap ? (value: unknown) => isValid(withShortKeys(value)) : isValid;
  return {
    passes,
    violations(value, path) {
      if (passes(value)) return [];
      const { errors } = isValid;
      isValidToEnd ??= untilEnd.compile(schema);
      return violationsFrom(
        (isValidToEnd(head(isMap ? withShortKeys(value) : value)) ? errors : isValidToEnd.errors) ?? [],
        path,
      );
    },
  };
}

function head(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, elementsMax);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).slice(0, elementsMax));
}

/** In UTF-16 units: more than a path shows of a key, and more than two for each character that any schema allows. */
const keyLengthMax = 200;

/** Ajv takes seconds to write a path with a key of megabytes. A truncated key is numbered, so that none is lost. */
function withShortKeys(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const keys = Object.keys(value);
  if (keys.every((key) => key.length <= keyLengthMax)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each], index) =>
      key.length > keyLengthMax ? [`${key.slice(0, keyLengthMax)}${index}`, each] : [key, each],
    ),
  );
}

/** Ajv's own check counts every character of a text, however long it is. */
function withMaxLength(ajv: Ajv): Ajv {
  const maxLength: FuncKeywordDefinition = {
    keyword: "maxLength",
    type: "string",
    schemaType: "number",
    validate: (lengthMax: number, text: string) => !isLongerThan(text, lengthMax),
    error: { message: "is too long", params: ({ schemaCode }) => _`{limit: ${schemaCode}}` },
  };
  return ajv.removeKeyword("maxLength").addKeyword(maxLength);
}
