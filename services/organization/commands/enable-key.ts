import { CommandError } from "../../platform/process/command-error.ts";
import { keyStatus } from "../domain/keys.ts";
import { updateKey } from "../store/update-key.ts";
import { keyCommand, nameOf } from "./key.ts";

/** Lets a disabled key work again. */
export const enableKey = keyCommand({
  name: "enable-key",
  summary: "Lets a disabled key work again.",
  prepare: (key) => {
    const status = keyStatus({ ...key, disabled: false }, new Date());
    if (status === "active") return updateKey(key.id, { disabled: false });
    const remedy = status === "expired" ? `give it another expiry (PATCH /api/v1/keys/${key.id}), or ` : "";
    throw new CommandError(`${nameOf(key)} is ${status}; ${remedy}make another one with create-key`);
  },
  describe: (key) => `${nameOf(key)} is enabled; where it was refused just now, it works within seconds`,
});
