import { ConfigError } from "./environment.ts";

/** A refusal of a command that its user can act on. */
export class CommandError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CommandError";
  }
}

type Command = (parameters: string[]) => Promise<void>;

/**
 * Runs the command that the command line names; without one, `serve`.
 * What its user can mend is printed as it is; anything else comes with its stack. Both exit 1.
 */
export async function runCommandLine(
  commands: Readonly<Record<string, Command>> & { readonly serve: Command },
): Promise<void> {
  const [name = "serve", ...parameters] = process.argv.slice(2);
  const names = Object.keys(commands).join(", ");
  if (name === "--help" || name === "help") {
    console.log(`Commands: ${names}. Without one: serve. Each shows its flags where one is missing.`);
    return;
  }
  try {
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (!command) throw new CommandError(`Unknown command "${name}"; use one of ${names}`);
    await command(parameters);
  } catch (error) {
    const expected = error instanceof ConfigError || error instanceof CommandError;
    process.stderr.write(`${expected ? error.message : error instanceof Error ? error.stack : error}\n`);
    process.exitCode = 1;
  }
}
