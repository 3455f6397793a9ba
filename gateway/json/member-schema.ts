import { emailLengthMax, nameLengthMax } from "../../services/platform/domain/limits.ts";
import { nameSchema } from "./enum-names.ts";
import { roleByName } from "./member.ts";
import { Type } from "./schema-builder.ts";
import { nullable } from "./schema-parts.ts";

export const roleSchema = nameSchema(roleByName, {
  description: "`org:admin`: administers the organization. `org:member`: belongs to it.",
});

/** The JSON that member.ts writes. */
export const memberSchema = Type.Object(
  {
    id: Type.String({ description: "The user: `user_` and 24 or more letters and digits." }),
    email: Type.String({ maxLength: emailLengthMax }),
    first_name: nullable("string", { maxLength: nameLengthMax, description: "Null if it is not known." }),
    last_name: nullable("string", { maxLength: nameLengthMax, description: "Null if it is not known." }),
    role: roleSchema,
  },
  {
    description: "A user as a member of the organization.",
    examples: [
      {
        id: "user_2xQ7LhV0bTn4RkYc9WmDsEaP",
        email: "ada@example.com",
        first_name: "Ada",
        last_name: null,
        role: "org:admin",
      },
    ],
  },
);
