import { ApiError } from "../api/api-error.ts";
import { ErrorPanel } from "./error-panel.tsx";

/** Shown for a part of the console whose file is gone: a gateway that has been upgraded since has other files. */
export function NotLoaded() {
  const error = new ApiError(0, "This part of the console could not be loaded. Reload the page.");
  return <ErrorPanel error={error} retry={() => location.reload()} />;
}
