import { reasonNotTo } from "../../api/session.ts";

/** Said before anybody writes, not when they want to save. */
export function CannotSave() {
  const reason = reasonNotTo("write");
  return reason ? <p class="notice">{reason} What you write here cannot be saved.</p> : null;
}
