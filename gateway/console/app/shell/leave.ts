import { asApiError } from "../api/api-error.ts";
import { signOut } from "../api/session.ts";
import { showToast } from "./toasts.tsx";

/** Signs out, and says so if that failed. */
export function leave(): void {
  signOut().catch((error: unknown) => showToast(`Not signed out: ${asApiError(error).message}`));
}
