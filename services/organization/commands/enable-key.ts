import { CommandError } from "../../platform/process/command-error.ts";
import { keyStatus } from "../domain/keys.ts";
import { updateKeyDisabled } from "../store/keys.ts";
import { keyCommand, nameOf } from "./key.ts";

/** Lets a disabled key work again. */
export const enableKey = keyCommand({
  name: "enable-key",
  summary: "Lets a disabled key work again.",
  change: (executor, keyId) => updateKeyDisabled(executor, keyId, false),
  tell: (key) => {
    const status = keyStatus(key, new Date());
    if (status === "active") return `${nameOf(key)} is enabled; where it was refused just now, it works within seconds`;
    throw new CommandError(`${nameOf(key)} is ${status} for good; make another one with create-key`);
  },
});
