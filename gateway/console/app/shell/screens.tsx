import type { VNode } from "preact";
import type { SessionWorkspace } from "../api/types.ts";
import { Presets } from "../screens/presets.tsx";

/** The screen of a path behind the workspace; undefined where there is none. Each is new where its path is another. */
export function findScreen(
  parts: readonly string[],
  query: URLSearchParams,
  workspace: SessionWorkspace,
): VNode | undefined {
  const [section, slug] = parts;
  const key = `${workspace.id}/${parts.join("/")}`;
  const common = { key, workspace, query };
  if (section === "presets" && slug === undefined) return <Presets {...common} />;
  return undefined;
}
