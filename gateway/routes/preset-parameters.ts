import { slugPattern, slugRule } from "../../services/platform/domain/limits.ts";
import { Type } from "../json/schema-builder.ts";

export const slugParams = {
  slug: Type.String({
    pattern: slugPattern.source,
    description: slugRule,
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
