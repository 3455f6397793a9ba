import { ConfigError } from "./environment.ts";

/**
 * What a process or command exits with where its settings are at fault, so that it cannot work before they are
 * changed: `EX_CONFIG` of sysexits.h. Whoever restarts processes may stop at it. Every other failure is 1.
 */
export const configExitCode = 78;

/** A port that somebody else has, an address that is not ours or a name that nobody has, a file that is not there or not for us. */
const settingCodes: readonly unknown[] = ["EADDRINUSE", "EADDRNOTAVAIL", "ENOTFOUND", "EACCES", "ENOENT"];

/** What a process exits with that could not open what it needs. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigError) return configExitCode;
  const { code, cause } = (error ?? {}) as NodeJS.ErrnoException;
  if (settingCodes.includes(code)) return configExitCode;
  return cause === undefined ? 1 : exitCodeOf(cause);
}
