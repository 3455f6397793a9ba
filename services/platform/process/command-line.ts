import { relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Command } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { ConfigError } from "./environment.ts";
import { configExitCode } from "./exit-code.ts";
import { flagLines, usageOf } from "./flags.ts";
import { nearest } from "./nearest.ts";

/**
 * Runs the command that the command line names, or the first one if it names none. `--help` lists them. A fault that
 * the user can correct is printed as a sentence; anything else with its stack.
 */
export async function runCommandLine(commands: readonly [Command, ...Command[]]): Promise<void> {
  // Modules load without a turn of the event loop: signals that arrived meanwhile are only handled now.
  await setImmediate();
  // The Node that this repository installs is usually not the one in the user's path.
  const node = process.execPath.includes("node_modules") ? "npx node" : "node";
  const entry = `${node} ${relative(process.cwd(), process.argv[1] ?? "")}`;
  const [name = commands[0].name, ...parameters] = process.argv.slice(2);
  const isHelp = (text: string): boolean => text === "--help" || text === "-h";
  try {
    if (isHelp(name) || name === "help") {
      const [about] = parameters;
      console.log(about ? helpOf(getCommand(commands, about), entry) : helpOfAll(commands, entry));
      return;
    }
    const command = getCommand(commands, name);
    if (parameters.some(isHelp)) console.log(helpOf(command, entry));
    else await command.read(parameters)();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof ConfigError) {
      const advice = `Set what is named in the environment; docs/configuration.md lists every variable.\n"npm start" runs everything with settings of its own, "${entry} --help" shows the commands.`;
      process.stderr.write(`${message}\n${advice}\n`);
    } else process.stderr.write(`${error instanceof CommandError ? message : ((error as Error).stack ?? message)}\n`);
    process.exitCode = error instanceof ConfigError ? configExitCode : 1;
  }
}

function getCommand(commands: readonly Command[], name: string): Command {
  const command = commands.find((each) => each.name === name);
  if (command) return command;
  const names = commands.map((each) => each.name);
  const meant = nearest(name, names);
  throw new CommandError(
    `There is no command "${name}"${meant ? `; did you mean ${meant}?` : "."}\nUse one of ${names.join(", ")}; --help shows what each does.`,
  );
}

function helpOfAll(commands: readonly [Command, ...Command[]], entry: string): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    `Usage: ${entry} [COMMAND] [FLAGS]; without a command: ${commands[0].name}`,
    "",
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    "",
    `Settings come from the environment: docs/configuration.md. COMMAND --help shows its flags.`,
  ].join("\n");
}

function helpOf({ name, summary, flags, example }: Command, entry: string): string {
  return [
    summary,
    "",
    `Usage: ${entry} ${usageOf(name, flags)}`,
    ...flagLines(flags),
    "",
    `Example: ${[entry, name, example].filter(Boolean).join(" ")}`,
  ].join("\n");
}
