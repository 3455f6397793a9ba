import { Type } from "typebox";

export const slugParams = {
  slug: Type.String({
    pattern: "^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$",
    description: "1 to 128 characters of A-Z a-z 0-9 . _ ~ -, with a letter or digit first",
    examples: ["support-bot"],
  }),
};

/** What every route for presets takes in its query. */
export const workspaceQuery = {
  workspace_id: Type.Optional(
    Type.String({
      format: "uuid",
      description: "With a management key: the workspace to act on. Default: the organization's default workspace.",
    }),
  ),
};
