import { session } from "../../api/session.ts";
import type { SessionWorkspace } from "../../api/types.ts";
import { Field } from "../../ui/field.tsx";

interface WorkspaceChoiceProps {
  readonly chosen: SessionWorkspace;
  readonly change: (workspaceId: string) => void;
}

/** Chooses the workspace that a copy goes to. Without a choice, there is nothing to see. */
export function WorkspaceChoice({ chosen, change }: WorkspaceChoiceProps) {
  const workspaces = session.value?.workspaces ?? [];
  if (workspaces.length < 2) return null;
  return (
    <Field label="Workspace">
      {(ids) => (
        <select {...ids} class="input" value={chosen.id} onChange={({ currentTarget }) => change(currentTarget.value)}>
          {workspaces.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
