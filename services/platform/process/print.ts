import { CommandError } from "./command-error.ts";

/**
 * Prints the output of a command. Throws a CommandError if it cannot be written, for example to a full disk:
 * `console.log` ignores that, and what is lost may be a secret that is shown once.
 */
export async function print(text: string): Promise<void> {
  const { stdout } = process;
  // A failed write is also emitted as an event, which would end the process if nobody listened.
  stdout.removeListener("error", ignore).on("error", ignore);
  const error = await new Promise<NodeJS.ErrnoException | null | undefined>((resolve) => {
    stdout.write(`${text}\n`, resolve);
  });
  if (!error) return;
  throw new CommandError(
    `The command has done its work, but its output could not be written (${error.code ?? error.message}). If it was to show a key, that key is lost: create another, and revoke the lost one.`,
  );
}

function ignore(): void {}
