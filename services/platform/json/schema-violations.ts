import type { ErrorObject } from "ajv";
import { type FieldViolation, violationsMax } from "../domain/domain-error.ts";
import { fieldPath } from "./field-path.ts";

/**
 * The errors of a JSON Schema validator in our own words. A `pattern`, a `not` or a `const` is explained by the
 * `description` beside it, which says what the value must be; ajv provides it only with its `verbose` option. Wording
 * them takes longer than finding them, so only as many as are reported are worded.
 */
export function violationsFrom(errors: readonly ErrorObject[], root = ""): FieldViolation[] {
  const listed = new Set(
    errors.filter(({ keyword }) => keyword === "enum" || keyword === "const").map(({ instancePath }) => instancePath),
  );
  const reported = errors.filter((error) => !isRepetition(error, listed)).slice(0, violationsMax);
  return reported.map((error) => violationFrom(error, root));
}

/** Whether an accompanying error says more: the rule that a key broke, or the list of allowed values. */
function isRepetition({ keyword, instancePath }: ErrorObject, listed: ReadonlySet<string>): boolean {
  return keyword === "propertyNames" || (keyword === "type" && listed.has(instancePath));
}

function violationFrom(error: ErrorObject, root: string): FieldViolation {
  const path = error.instancePath.split("/").slice(1).map(unescapePointer).reduce(fieldPath, root);
  const { missingProperty, additionalProperty } = error.params;
  const key = missingProperty ?? additionalProperty ?? error.propertyName;
  const message = error.propertyName === undefined ? messageFor(error) : `has a name that ${messageFor(error)}`;
  return { path: key === undefined ? path : fieldPath(path, key), message };
}

function unescapePointer(segment: string): string {
  return segment.replaceAll("~1", "/").replaceAll("~0", "~");
}

function messageFor({ keyword, params, parentSchema, message }: ErrorObject): string {
  switch (keyword) {
    case "type":
      return `must be ${typeNames(params.type)}`;
    case "required":
      return "is required";
    case "additionalProperties":
      return `is not a known field${knownFields(parentSchema?.properties)}`;
    case "minimum":
      return `must be at least ${params.limit}`;
    case "maximum":
      return `must be at most ${params.limit}`;
    case "minLength":
      return `must have at least ${count(params.limit, "character")}`;
    case "maxLength":
      return `must have at most ${count(params.limit, "character")}`;
    case "minItems":
      return `must have at least ${count(params.limit, "element")}`;
    case "maxItems":
      return `must have at most ${count(params.limit, "element")}`;
    case "minProperties":
      return `must have at least ${count(params.limit, "field")}`;
    case "maxProperties":
      return `must have at most ${count(params.limit, "field")}`;
    case "enum":
      return `must be one of ${params.allowedValues.join(", ")}`;
    case "const":
      return `must be ${parentSchema?.description ?? JSON.stringify(params.allowedValue)}`;
    case "not":
    case "pattern":
      return `must be ${parentSchema?.description ?? `text that matches ${params.pattern}`}`;
    case "format":
      return `must be a valid ${params.format}`;
    default:
      return message ?? "is not valid";
  }
}

const namesOfTypes: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "an integer",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

/** `null` is left out: it means that a field may be absent, which does not help whoever sent it. */
function typeNames(types: string | readonly string[]): string {
  return [types]
    .flat()
    .flatMap((type) => namesOfTypes[type] ?? [])
    .join(" or ");
}

function knownFields(properties: object = {}): string {
  const names = Object.keys(properties);
  return names.length > 0 ? `: there are ${names.join(", ")}` : "";
}

function count(limit: number, noun: string): string {
  return `${limit} ${noun}${limit === 1 ? "" : "s"}`;
}
