import { type Flags, type FlagValues, readFlags } from "./flags.ts";

/** What the entry file of a process can be told to do. */
export interface Command<Context = void, Result = void> {
  readonly name: string;
  /** A sentence. */
  readonly summary: string;
  readonly flags: Flags;
  /** Flags as a user may write them; empty if it has none. */
  readonly example: string;
  /** Reads the flags, or throws a CommandError. What it returns does the work. */
  read(parameters: string[]): (context: Context) => Promise<Result>;
}

interface CommandParts<F extends Flags, Context, Result> {
  readonly name: string;
  readonly summary: string;
  readonly flags: F;
  readonly example: string;
  readonly run: (flags: FlagValues<F>, context: Context) => Promise<Result>;
}

export function defineCommand<F extends Flags, Context = void, Result = void>({
  run,
  ...parts
}: CommandParts<F, Context, Result>): Command<Context, Result> {
  return {
    ...parts,
    read: (parameters) => {
      const values = readFlags(parts.name, parameters, parts.flags);
      return (context) => run(values, context);
    },
  };
}
