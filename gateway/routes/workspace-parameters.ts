import { Type } from "../json/schema-builder.ts";

export const workspaceParams = {
  workspace: Type.String({ description: "The id or the slug of the workspace.", examples: ["staging"] }),
};
