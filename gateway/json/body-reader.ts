import type { Static, TObject } from "typebox";
import { type FieldViolation, invalidRequest } from "../../services/platform/domain/domain-error.ts";
import { surrogateViolations } from "../../services/platform/domain/text-violations.ts";
import { fieldPath } from "../../services/platform/json/field-path.ts";
import { ambiguities, parseJsonObject } from "../../services/platform/json/json-text.ts";
import { schemaCheck } from "../../services/platform/json/schema-check.ts";
import { requireBody } from "./body.ts";

/** Many times what the fields of such a body take, however they are written. */
export const smallBodyBytesMax = 65_536;

/** A rule that a schema cannot express. It sees fields that the schema may have refused. */
type Rule = (fields: Readonly<Record<string, unknown>>) => readonly FieldViolation[];

const noRule: Rule = () => [];

/**
 * Creates a function that reads small bodies of one shape. It reports all violations at once; an unknown field is one.
 * Violations of `ruleOfService` are named beside others, but refuse no body alone: that is for the service to do.
 */
export function bodyReader<Schema extends TObject>(
  schema: Schema,
  rule = noRule,
  ruleOfService = noRule,
): (body: string | undefined) => Static<Schema> {
  const check = schemaCheck(schema);
  return (body) => {
    const object = parseJsonObject(requireBody(body));
    const { value } = object;
    const violations = [...check.violations(value, ""), ...ambiguities(object, []), ...rule(value)];
    for (const [path, content] of Object.entries(value)) {
      const texts = [content].flat().filter((each) => typeof each === "string");
      const [halved] = texts.flatMap((text) => surrogateViolations(path, text));
      if (halved) violations.push(halved);
    }
    if (violations.length > 0) throw invalidRequest([...violations, ...ruleOfService(value)]);
    return value as Static<Schema>;
  };
}

/** For a deletion. A field is not ignored: it may be meant to hold the deletion back, or to be one of the query. */
export function requireNoFields(body: string | undefined): void {
  const keys = body ? Object.keys(parseJsonObject(body).value) : [];
  const message = "is not a known field: a deletion takes parameters in its query alone";
  if (keys.length > 0) throw invalidRequest(keys.map((key) => ({ path: fieldPath("", key), message })));
}
