import { type ParseArgsConfig, parseArgs } from "node:util";
import { isId } from "../../platform/domain/ids.ts";
import { CommandError } from "../../platform/process/command-line.ts";
import { isEmail } from "../domain/members.ts";
import { isName } from "../domain/organizations.ts";
import { isSlug } from "../domain/workspaces.ts";

type Given = ReturnType<typeof parseArgs>["values"][string];

interface Flag<T> {
  readonly type: "string" | "boolean";
  /** How a line of usage shows the flag: `[--workspace ID]`. */
  readonly show: (name: string) => string;
  /** What the flag means, or throws an Error whose message goes behind the flag's name. */
  readonly read: (given: Given) => T;
}

type Flags = Readonly<Record<string, Flag<unknown>>>;
type Values<F extends Flags> = { readonly [Name in keyof F]: ReturnType<F[Name]["read"]> };

/** The flags of a command, or one CommandError that names every fault and shows how the command is used. */
export function readFlags<F extends Flags>(command: string, parameters: string[], flags: F): Values<F> {
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
  return Object.fromEntries(values) as Values<F>;
}

function parse(config: ParseArgsConfig, refusal: (message: string) => CommandError): Record<string, Given> {
  try {
    return parseArgs(config).values;
  } catch (error) {
    // The sentences after the first explain how to write what no command here takes.
    throw refusal((error as Error).message.split(/\.\s/)[0] as string);
  }
}

function usageOf(command: string, flags: Flags): string {
  return [command, ...Object.entries(flags).map(([name, { show }]) => show(name))].join(" ");
}

/** What the text of a flag must be; `parse` returns undefined where it is not. */
interface Rule<T> {
  /** Stands for the text in a line of usage. */
  readonly sample: string;
  readonly meaning: string;
  readonly parse: (text: string) => T | undefined;
}

export const toggle: Flag<boolean> = {
  type: "boolean",
  show: (name) => `[--${name}]`,
  read: (given) => given === true,
};

export function optional<T>({ sample, meaning, parse }: Rule<T>): Flag<T | undefined> {
  return {
    type: "string",
    show: (name) => `[--${name} ${sample}]`,
    read: (given) => {
      if (typeof given !== "string") return undefined;
      const value = parse(given.trim());
      if (value === undefined) throw new Error(`must be ${meaning}`);
      return value;
    },
  };
}

export function required<T>(rule: Rule<T>): Flag<T> {
  const { type, read } = optional(rule);
  return {
    type,
    show: (name) => `--${name} ${rule.sample}`,
    read: (given) => {
      const value = read(given);
      if (value === undefined) throw new Error(`is required: ${rule.meaning}`);
      return value;
    },
  };
}

export const name: Rule<string> = {
  sample: "NAME",
  meaning: "1 to 255 characters, without tabs, line breaks and the like",
  parse: (text) => (isName(text) ? text : undefined),
};

export const email: Rule<string> = {
  sample: "EMAIL",
  meaning: "an e-mail address of at most 320 characters",
  parse: (text) => (isEmail(text) ? text : undefined),
};

export const id: Rule<string> = {
  sample: "ID",
  meaning: "a UUID",
  parse: (text) => (isId(text) ? text.toLowerCase() : undefined),
};

export const slug: Rule<string> = {
  sample: "SLUG",
  meaning: "1 to 50 lower-case letters and digits, with single hyphens between them",
  parse: (text) => (isSlug(text) ? text : undefined),
};

export const futureTime: Rule<Date> = {
  sample: "TIME",
  meaning: "a time to come in ISO 8601 with its zone, such as 2030-01-31T12:00:00Z",
  parse: (text) => {
    const hasZone = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text);
    const time = hasZone ? Date.parse(text) : Number.NaN;
    return time > Date.now() ? new Date(time) : undefined;
  },
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
