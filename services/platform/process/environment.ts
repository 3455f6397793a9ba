import { accessSync, constants } from "node:fs";

/** The environment of a process, as `process.env` gives it. Tests pass plain objects. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** All faults of an environment at once, one line each. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The configuration is not valid:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`);
    this.name = "ConfigError";
    this.faults = faults;
  }
}

interface Bounds {
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

/** Reads single variables and collects what is wrong with them. An empty variable counts as unset. */
export class EnvironmentReader {
  readonly faults: string[] = [];
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  optional(name: string): string | undefined {
    return this.#environment[name]?.trim() || undefined;
  }

  text(name: string, fallback: string): string {
    return this.optional(name) ?? fallback;
  }

  required(name: string, meaning: string): string {
    const value = this.optional(name);
    if (value === undefined) this.faults.push(`${name} is required: ${meaning}`);
    return value ?? "";
  }

  /** The path of a file that can be read now. */
  optionalFile(name: string): string | undefined {
    const path = this.optional(name);
    try {
      if (path !== undefined) accessSync(path, constants.R_OK);
    } catch (error) {
      this.faults.push(`${name} names a file that cannot be read: ${(error as Error).message}`);
    }
    return path;
  }

  integer(name: string, bounds: Bounds): number {
    const value = this.optional(name);
    if (value === undefined) return bounds.default;
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= bounds.min && number <= bounds.max) return number;
    this.faults.push(`${name} must be a whole number from ${bounds.min} to ${bounds.max}, not "${value}"`);
    return bounds.default;
  }

  port(name: string, fallback: number): number {
    return this.integer(name, { default: fallback, min: 0, max: 65535 });
  }

  oneOf<T extends string>(name: string, values: readonly T[], fallback: T): T {
    const value = this.optional(name);
    if (value === undefined) return fallback;
    const known = values.find((candidate) => candidate === value);
    if (known === undefined) this.faults.push(`${name} must be one of ${values.join(", ")}, not "${value}"`);
    return known ?? fallback;
  }

  /** The value may hold a password, so a fault names only the variable. */
  optionalUrl(name: string, protocols: readonly string[]): string | undefined {
    const value = this.optional(name);
    if (value === undefined) return undefined;
    const protocol = URL.canParse(value) ? new URL(value).protocol : "";
    if (protocols.includes(protocol)) return value;
    const starts = protocols.map((each) => `${each}//`);
    // Usually a password with a # or a / in it, which a URL parser takes for the end of that part.
    const hint = starts.some((start) => value.startsWith(start))
      ? ", and of which all can be read: special characters of a password are percent-encoded, a # as %23"
      : "";
    this.faults.push(`${name} must be a URL that starts with ${starts.join(" or ")}${hint}`);
    return value;
  }
}

/** Makes a config from an environment, or throws one ConfigError that names every fault. */
export function readConfig<T>(environment: Environment, read: (reader: EnvironmentReader) => T): T {
  const reader = new EnvironmentReader(environment);
  const config = read(reader);
  if (reader.faults.length > 0) throw new ConfigError(reader.faults);
  return config;
}
