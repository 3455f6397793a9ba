import { Type } from "typebox";

export const workspaceParams = {
  workspace: Type.String({ description: "The id or the slug of the workspace.", examples: ["staging"] }),
};
