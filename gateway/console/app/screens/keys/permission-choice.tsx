import { useId } from "preact/hooks";
import type { Key } from "../../api/types.ts";

type Permission = Key["permissions"][number];

/** In the order in which they are offered. */
const meanings: Readonly<Record<Permission, string>> = {
  "presets:read": "Read presets and their versions.",
  "presets:write": "Add versions, roll back, rename, archive.",
  inference: "Call models, with and without presets.",
};

export const allPermissions = Object.keys(meanings) as readonly Permission[];

interface PermissionChoiceProps {
  readonly chosen: readonly Permission[];
  readonly change: (chosen: readonly Permission[]) => void;
  readonly fault: string | undefined;
}

export function PermissionChoice({ chosen, change, fault }: PermissionChoiceProps) {
  const faultId = useId();
  return (
    <fieldset class="stack-tight" aria-describedby={fault ? faultId : undefined}>
      <legend class="label">Permissions</legend>
      {allPermissions.map((permission) => (
        <label key={permission} class="choice">
          <input
            type="checkbox"
            checked={chosen.includes(permission)}
            onChange={(event) => {
              const isIn = event.currentTarget.checked;
              // In the API's order, whatever the order of the clicks.
              change(allPermissions.filter((each) => (each === permission ? isIn : chosen.includes(each))));
            }}
          />
          <span>
            <code>{permission}</code> <span class="choice-meaning">{meanings[permission]}</span>
          </span>
        </label>
      ))}
      {fault && (
        <span id={faultId} class="fault">
          {fault}
        </span>
      )}
    </fieldset>
  );
}
