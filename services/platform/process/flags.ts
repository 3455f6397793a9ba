import { type ParseArgsConfig, parseArgs } from "node:util";
import { isId } from "../domain/ids.ts";
import { CommandError } from "./command-error.ts";
import { nearest } from "./nearest.ts";

type Given = ReturnType<typeof parseArgs>["values"][string];

interface Flag<T> {
  readonly type: "string" | "boolean";
  /** What stands for the text of the flag: `ID`. Undefined for a switch. */
  readonly sample: string | undefined;
  readonly isRequired: boolean;
  /** What the flag is for, in a line of help. */
  readonly purpose: string;
  /** What the flag means, or throws an Error whose message goes behind the flag's name. */
  readonly read: (given: Given) => T;
}

export type Flags = Readonly<Record<string, Flag<unknown>>>;
export type FlagValues<F extends Flags> = { readonly [Name in keyof F]: ReturnType<F[Name]["read"]> };

/** The flags of a command, or one CommandError that names every fault and shows how the command is used. */
export function readFlags<F extends Flags>(command: string, parameters: string[], flags: F): FlagValues<F> {
  const refusal = (message: string) => new CommandError(`${message}\nUsage: ${usageOf(command, flags)}`);
  const given = parse({ args: parameters, options: flags }, refusal);
  const faults: string[] = [];
  const values = Object.entries(flags).map(([name, flag]) => {
    try {
      return [name, flag.read(given[name])];
    } catch (error) {
      faults.push(`--${name} ${(error as Error).message}`);
      return [name, undefined];
    }
  });
  if (faults.length > 0) throw refusal(faults.join("\n"));
  return Object.fromEntries(values) as FlagValues<F>;
}

function parse(config: ParseArgsConfig, refusal: (message: string) => CommandError): Record<string, Given> {
  try {
    return parseArgs(config).values;
  } catch (error) {
    // The sentences after the first explain how to write what no command here takes.
    const message = (error as Error).message.split(/\.\s/)[0] as string;
    const unknown = /^Unknown option '-*([^']+)'$/.exec(message)?.[1];
    const meant = unknown && nearest(unknown, Object.keys(config.options ?? {}));
    throw refusal(meant ? `${message}; did you mean --${meant}?` : message);
  }
}

/** A line that shows how a command is used. */
export function usageOf(command: string, flags: Flags): string {
  const shown = Object.entries(flags).map(([name, flag]) =>
    flag.isRequired ? show(name, flag) : `[${show(name, flag)}]`,
  );
  return [command, ...shown].join(" ");
}

/** A line for each flag: what it is for. */
export function flagLines(flags: Flags): string[] {
  const rows = Object.entries(flags).map(([name, flag]) => ({ shown: show(name, flag), purpose: flag.purpose }));
  const width = Math.max(...rows.map(({ shown }) => shown.length));
  return rows.map(({ shown, purpose }) => `  ${shown.padEnd(width)}  ${purpose}`);
}

function show(name: string, { sample }: Flag<unknown>): string {
  return sample === undefined ? `--${name}` : `--${name} ${sample}`;
}

/** What the text of a flag must be; `parse` returns undefined if it is not. */
export interface Rule<T> {
  /** Stands for the text in a line of usage. */
  readonly sample: string;
  readonly meaning: string;
  readonly parse: (text: string) => T | undefined;
}

export function toggle(purpose: string): Flag<boolean> {
  return { type: "boolean", sample: undefined, isRequired: false, purpose, read: (given) => given === true };
}

export function optional<T>({ sample, meaning, parse }: Rule<T>, purpose: string): Flag<T | undefined> {
  return {
    type: "string",
    sample,
    isRequired: false,
    purpose,
    read: (given) => {
      if (typeof given !== "string") return undefined;
      const value = parse(given.trim());
      if (value === undefined) throw new Error(`must be ${meaning}`);
      return value;
    },
  };
}

export function required<T>(rule: Rule<T>, purpose: string): Flag<T> {
  const flag = optional(rule, purpose);
  return {
    ...flag,
    isRequired: true,
    read: (given) => {
      const value = flag.read(given);
      if (value === undefined) throw new Error(`is required: ${rule.meaning}`);
      return value;
    },
  };
}

export const id: Rule<string> = {
  sample: "ID",
  meaning: "a UUID",
  parse: (text) => (isId(text) ? text.toLowerCase() : undefined),
};

export function oneOf<T extends string>(values: readonly T[]): Rule<T> {
  return {
    sample: values.join("|"),
    meaning: `one of ${values.join(", ")}`,
    parse: (text) => values.find((value) => value === text),
  };
}

/** One or more of the values, separated by commas. */
export function someOf<T extends string>(values: readonly T[]): Rule<T[]> {
  return {
    sample: values.join(","),
    meaning: `one or more of ${values.join(", ")}, separated by commas`,
    parse: (text) => {
      const parts = text.split(",").map((part) => part.trim());
      return parts.every((part) => values.some((value) => value === part))
        ? values.filter((value) => parts.includes(value))
        : undefined;
    },
  };
}
