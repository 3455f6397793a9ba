import { CommandError } from "./command-error.ts";

/**
 * Prints what a command has to say. Throws a CommandError where it cannot be written, such as to a disk that is full:
 * `console.log` keeps silent about that, and what is lost may be a secret that is shown once.
 */
export async function print(text: string): Promise<void> {
  const { stdout } = process;
  // A failed write is also an event, which would end the process where nobody listens.
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
