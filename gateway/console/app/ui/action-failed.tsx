import type { ApiError } from "../api/api-error.ts";
import { isOutcomeUnknown, unreachable } from "../api/request.ts";
import { ErrorPanel } from "./error-panel.tsx";

interface ActionFailedProps {
  readonly error: ApiError;
  readonly done: "saved" | "created";
  readonly link?: readonly [label: string, href: string] | undefined;
}

/** Why something was not stored. If that is not certain, says so, and that a retry is safe. */
export function ActionFailed({ error, done, link }: ActionFailedProps) {
  if (!isOutcomeUnknown(error)) return <ErrorPanel error={error} title={`Nothing was ${done}`} link={link} />;
  const isSilent = error.message === unreachable;
  const what = isSilent
    ? `The gateway cannot be reached, or the connection was lost: it may have been ${done}. Check the connection, then try again.`
    : error.message;
  return (
    <ErrorPanel error={error} title={isSilent ? "No answer arrived" : `It may not have been ${done}`}>
      <p>
        {what} It is {done} once, however often you try.
      </p>
    </ErrorPanel>
  );
}
