import type { ApiError } from "../api/api-error.ts";
import { unreachable } from "../api/request.ts";
import { ErrorPanel } from "./error-panel.tsx";

interface ActionFailedProps {
  readonly error: ApiError;
  readonly done: "saved" | "created";
  readonly link?: readonly [label: string, href: string] | undefined;
}

/** Why something was not stored. If no response came, says that the outcome is unknown and that a retry is safe. */
export function ActionFailed({ error, done, link }: ActionFailedProps) {
  if (error.message !== unreachable) return <ErrorPanel error={error} title={`Nothing was ${done}`} link={link} />;
  return (
    <ErrorPanel error={error} title="No answer arrived">
      <p>
        The gateway cannot be reached, or the connection was lost: it may have been {done}. Check the connection, then
        try again. It is {done} once, however often you try.
      </p>
    </ErrorPanel>
  );
}
