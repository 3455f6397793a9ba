import type { ApiError } from "../../api/api-error.ts";
import { isOutcomeUnknown } from "../../api/request.ts";
import { navigate } from "../../shell/location.ts";
import { showToast } from "../../shell/toasts.tsx";

/** Says that a draft was not stored to whoever has left its screen meanwhile, and so does not see the error there. */
export function notifyAwayFrom(href: string, what: string, done: "saved" | "created", error: ApiError): void {
  if (new URL(href).pathname === location.pathname) return;
  const not = isOutcomeUnknown(error) ? "may not have been" : "was not";
  showToast(`${what} ${not} ${done}.`, { label: "Back to the draft", run: () => navigate(href) });
}
