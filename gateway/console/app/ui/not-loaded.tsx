import { useEffect, useState } from "preact/hooks";
import { ApiError, asApiError } from "../api/api-error.ts";
import { loadSession } from "../api/session.ts";
import { useRetry } from "../api/use-loading.ts";
import { ErrorPanel } from "./error-panel.tsx";

const error = new ApiError(0, "This part of the console could not be loaded. Check the connection, then try again.");

/**
 * Shown for a part of the console whose file could not be loaded: the connection is lost, or the gateway has been
 * upgraded since and has other files. Only a reload finds those, but without a connection it would lose the console.
 */
export function NotLoaded() {
  const [shown, setShown] = useState(error);
  const retry = (): void =>
    void loadSession().then(
      () => location.reload(),
      (thrown: unknown) => setShown(asApiError(thrown)),
    );
  // Without a connection, it continues by itself. With one, the file is missing, and a reload might not find it either.
  useEffect(() => {
    loadSession().catch((thrown: unknown) => setShown(asApiError(thrown)));
  }, []);
  useRetry(shown === error ? undefined : shown, retry);
  return <ErrorPanel error={shown} retry={retry} />;
}
