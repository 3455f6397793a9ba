import { nameSchema } from "./enum-names.ts";
import { actionByName, targetKindByName } from "./organization-change.ts";
import { Type } from "./schema-builder.ts";
import { nullable, time, uuid } from "./schema-parts.ts";

export const actionSchema = nameSchema(actionByName, { description: "What was done, and to what." });

/** The JSON that organization-change.ts writes. */
export const organizationChangeSchema = Type.Object(
  {
    id: uuid("Identifier of the entry."),
    action: actionSchema,
    user_id: nullable("string", {
      description: "The user whose key did it. Null for a command in an organization without an admin.",
    }),
    key_id: nullable("string", { format: "uuid", description: "The key that did it. Null for a command." }),
    target: Type.Object({
      kind: nameSchema(targetKindByName),
      id: Type.String({ description: "The id of the key, the workspace or the user." }),
      name: Type.String({ description: "Its name at that time; for a member, the e-mail address." }),
    }),
    created_at: time("When it was done."),
    changes: Type.Array(
      Type.Object({
        field: Type.String({ description: "The name of the field in this API." }),
        from: Type.Unknown({ description: "Null if there was no value." }),
        to: Type.Unknown({ description: "Null if there is no value any more." }),
      }),
      { description: "Empty for a deletion." },
    ),
  },
  {
    description: "One entry of the change log of keys, workspaces and members.",
    examples: [
      {
        id: "0198c5b0-41d7-7e52-a0c9-6f3b8e15d274",
        action: "key_updated",
        user_id: "user_2xQ7LhV0bTn4RkYc9WmDsEaP",
        key_id: "0198c2d6-1f5a-7c08-92be-d3a46b70e815",
        target: { kind: "key", id: "0198c2d7-5b20-7a91-b6d4-0e8c37f1a952", name: "ci" },
        created_at: "2026-03-15T08:00:12.004Z",
        changes: [{ field: "disabled", from: false, to: true }],
      },
    ],
  },
);
