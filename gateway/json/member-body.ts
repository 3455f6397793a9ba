import { emailLengthMax, nameLengthMax } from "../../services/platform/domain/limits.ts";
import { bodyReader } from "./body-reader.ts";
import { roleByName } from "./member.ts";
import { roleSchema } from "./member-schema.ts";
import { Type } from "./schema-builder.ts";
import { controlCharacters, nameRule, optionalText } from "./schema-parts.ts";

const personNameRule = nameRule(nameLengthMax);
const personName = optionalText({ ...personNameRule, description: `${personNameRule.description}, or null` });
const role = Type.Optional(roleSchema);

export const memberCreationSchema = Type.Object(
  {
    email: Type.String({
      pattern: `^[^\\s@${controlCharacters}]+@[^\\s@${controlCharacters}]+$`,
      maxLength: emailLengthMax,
      description: `an e-mail address of at most ${emailLengthMax} characters`,
    }),
    first_name: personName,
    last_name: personName,
    role,
  },
  { additionalProperties: false, examples: [{ email: "grace@example.com", first_name: "Grace" }] },
);

export const memberUpdateSchema = Type.Object(
  { role, first_name: personName, last_name: personName },
  { additionalProperties: false, minProperties: 1, examples: [{ role: "org:admin" }] },
);

const readCreation = bodyReader(memberCreationSchema);
const readUpdate = bodyReader(memberUpdateSchema);

/** The body of POST /organization/members, as the organization service takes it. */
export function memberCreationFrom(body: string | undefined) {
  const { email, role = "org:member", ...names } = readCreation(body);
  return { email, role: roleByName[role], ...namesOf(names) };
}

/** The body of PATCH /organization/members/{user_id}. */
export function memberUpdateFrom(body: string | undefined) {
  const update = readUpdate(body);
  const { role, ...names } = update;
  return {
    // Sorted, so that a retry with its fields in another order is the same request.
    updateMask: { paths: Object.keys(update).sort() },
    ...(role === undefined ? {} : { role: roleByName[role] }),
    ...namesOf(names),
  };
}

interface Names {
  readonly first_name?: string | null;
  readonly last_name?: string | null;
}

/** A name that is null is left out: the service removes what the mask names and the message does not contain. */
function namesOf({ first_name, last_name }: Names) {
  return {
    ...(typeof first_name === "string" ? { firstName: first_name } : {}),
    ...(typeof last_name === "string" ? { lastName: last_name } : {}),
  };
}
