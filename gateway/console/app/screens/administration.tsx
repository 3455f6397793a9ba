import { Activity } from "./activity.tsx";
import { Keys } from "./keys.tsx";
import type { ScreenProps } from "./screen-props.ts";
import { Team } from "./team.tsx";
import { WorkspaceMembers } from "./workspace-members.tsx";

export interface AdministrationProps extends ScreenProps {
  readonly parts: readonly string[];
}

/** The screens about the organization. */
export function AdministrationScreen({ parts, ...common }: AdministrationProps) {
  const [section, detail] = parts;
  if (section === "activity") return <Activity {...common} />;
  if (section === "keys") return <Keys {...common} />;
  return detail === undefined ? <Team {...common} /> : <WorkspaceMembers {...common} slug={detail} />;
}
