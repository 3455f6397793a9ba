import { useId } from "preact/hooks";
import { leave } from "../shell/leave.ts";

interface NoPermissionProps {
  readonly reason: string;
  /** What one could do here with another key. */
  readonly actions: readonly string[];
}

/** Shown in place of a list that the current key may not read. */
export function NoPermission({ reason, actions }: NoPermissionProps) {
  const reasonId = useId();
  return (
    <div class="panel empty">
      <h2>Not available with this key</h2>
      <p id={reasonId}>{reason}</p>
      <div class="row">
        {actions.map((action) => (
          <button key={action} type="button" class="button" aria-disabled="true" aria-describedby={reasonId}>
            {action}
          </button>
        ))}
        <button type="button" class="button" onClick={leave}>
          Sign in with another key
        </button>
      </div>
    </div>
  );
}
