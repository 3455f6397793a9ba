import type { Pool } from "../../platform/mysql/pool.ts";
import { CommandError } from "../../platform/process/command-line.ts";
import { keyStatus } from "../domain/keys.ts";
import { updateKeyDisabled } from "../store/keys.ts";
import { changeKey, nameOf } from "./key.ts";

/** Lets a disabled key work again. */
export function enableKey(pool: Pool, parameters: string[]): Promise<string> {
  return changeKey(pool, "enable-key", parameters, {
    change: (executor, keyId) => updateKeyDisabled(executor, keyId, false),
    tell: (key) => {
      const status = keyStatus(key, new Date());
      if (status === "active")
        return `${nameOf(key)} is enabled; where it was refused just now, it works within seconds`;
      throw new CommandError(`${nameOf(key)} is ${status} for good; make another one with create-key`);
    },
  });
}
