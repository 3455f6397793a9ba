import { ConfigError } from "./environment.ts";

/**
 * The exit code of a process or command whose settings are wrong, so that it cannot work until they are changed:
 * `EX_CONFIG` of sysexits.h. A supervisor may stop restarting it. Every other failure is 1.
 */
export const configExitCode = 78;

/**
 * A port in use, an address that is not ours, a name that does not resolve, a file that is missing or not accessible.
 */
const settingCodes: readonly unknown[] = ["EADDRINUSE", "EADDRNOTAVAIL", "ENOTFOUND", "EACCES", "ENOENT"];

/** The exit code of a process that could not open what it needs. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigError) return configExitCode;
  const { code, cause } = (error ?? {}) as NodeJS.ErrnoException;
  if (settingCodes.includes(code)) return configExitCode;
  return cause === undefined ? 1 : exitCodeOf(cause);
}
