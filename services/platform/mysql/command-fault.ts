import { CommandError } from "../process/command-error.ts";
import { isConnectionLost, isLockTimeout, isPrivilegeMissing, isTlsRequired, isTransient } from "./errors.ts";

/**
 * For the user of a command: throws a sentence if the database is out of reach, refuses the login, denies the
 * statement, is locked, or has others change the same rows all the time; otherwise throws the error it is given.
 */
export function throwDatabaseFault(error: unknown): never {
  const cause = rootOf(error);
  if (isPrivilegeMissing(cause)) {
    throw new CommandError(
      `The database refuses this to its user: ${(cause as Error).message}.\nGrant the right, or use the URL of a user who has it; docs/operations.md has the rights of each, under "Install".`,
    );
  }
  if (isTlsRequired(cause)) {
    throw new CommandError(
      "The database accepts only connections with TLS: add ssl-mode=VERIFY_IDENTITY to its URL, as docs/configuration.md describes.",
    );
  }
  if (isLockTimeout(cause)) {
    throw new CommandError(
      "Something else has rows or a table of the database locked, such as a backup or a transaction that was left open. End it, and run the command again.",
    );
  }
  // mysql2 marks everything that ends a connection as fatal, including a refused password.
  if (!isConnectionLost(cause) && (cause as { fatal?: boolean }).fatal !== true) {
    if (!isTransient(cause)) throw error;
    throw new CommandError("Others kept changing the same rows of the database. Run the command again.");
  }
  const { message, code } = cause as { message?: string; code?: string };
  throw new CommandError(
    `The database cannot be used: ${message || code}.\nCheck that it runs, and the database URL in the environment. The database of "npm start" runs only while that does.`,
  );
}

function rootOf(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? error : rootOf(cause);
}
