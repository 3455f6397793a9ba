import type { Pool } from "../../platform/mysql/pool.ts";
import { CommandError } from "../../platform/process/command-line.ts";
import { keyStatus } from "../domain/keys.ts";
import { updateKey } from "../store/update-key.ts";
import { changeKey, nameOf } from "./key.ts";

/** Lets a disabled key work again. */
export function enableKey(pool: Pool, parameters: string[]): Promise<string> {
  return changeKey(pool, "enable-key", parameters, {
    prepare: (key) => {
      const status = keyStatus({ ...key, disabled: false }, new Date());
      if (status === "active") return updateKey(key.id, { disabled: false });
      throw new CommandError(`${nameOf(key)} is ${status} for good; make another one with create-key`);
    },
    tell: (key) => `${nameOf(key)} is enabled; where it was refused just now, it works within seconds`,
  });
}
