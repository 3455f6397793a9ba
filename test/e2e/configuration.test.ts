import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { choosePorts } from "../../deploy/local/ports.ts";
import { readGatewayConfig } from "../../gateway/config.ts";
import { readOrganizationConfig, readOrganizationMigration } from "../../services/organization/config.ts";
import { type Environment, EnvironmentReader } from "../../services/platform/process/environment.ts";
import { readPresetConfig, readPresetMigration } from "../../services/preset/config.ts";
import { anyPorts } from "../support/ports.ts";

const text = readFileSync(join(import.meta.dirname, "../../docs/configuration.md"), "utf8");

/** What is documented or known about a variable; undefined if nothing is. */
interface Facts {
  readonly fallback?: string | undefined;
  readonly bounds?: string | undefined;
}

/** The table rows below a heading, as cells. */
function rowsOf(heading: string): string[][] {
  const [, section = ""] = text.split(`\n## ${heading}\n`);
  const lines = section.split("\n## ")[0]?.split("\n") ?? [];
  return lines.filter((line) => line.startsWith("| `")).map((line) => line.split("|").map((cell) => cell.trim()));
}

function toldBelow(heading: string): [string, Facts][] {
  return rowsOf(heading).map(([, name = "", fallback, bounds]) => [name.replaceAll("`", ""), { fallback, bounds }]);
}

/** All variables read from an empty environment. */
function knownTo(reads: readonly ((environment: Environment) => unknown)[]): Map<string, Facts> {
  const known = new Map<string, Facts>();
  const listen = <Given extends unknown[]>(method: keyof EnvironmentReader, factsOf: (...given: Given) => Facts) => {
    const original = EnvironmentReader.prototype[method] as (...given: unknown[]) => never;
    vi.spyOn(EnvironmentReader.prototype, method as "text").mockImplementation(function (
      this: EnvironmentReader,
      name,
      ...given
    ) {
      known.set(name, { ...known.get(name), ...factsOf(...(given as unknown as Given)) });
      return original.call(this, name, ...given);
    });
  };
  listen("optional", () => ({}));
  listen("text", (fallback: string) => ({ fallback: fallback || "–" }));
  listen("required", () => ({ fallback: "required" }));
  listen("oneOf", (values: string[], fallback: string) => ({ fallback, bounds: values.join(", ") }));
  listen("optionalUrl", (protocols: string[]) => ({ bounds: protocols.map((each) => each.slice(0, -1)).join(", ") }));
  listen("integer", ({ default: fallback, min, max }: Record<"default" | "min" | "max", number>) => ({
    fallback: String(fallback),
    bounds: `${min} to ${max}`,
  }));
  for (const read of reads) {
    try {
      read({});
    } catch {
      // Missing required variables are reported at the end, after everything was read.
    }
  }
  return known;
}

afterEach(() => vi.restoreAllMocks());

describe.each([
  ["Gateway", [readGatewayConfig]],
  ["Preset service", [readPresetConfig, readPresetMigration]],
  ["Organization service", [readOrganizationConfig, readOrganizationMigration]],
] as const)("docs/configuration.md for the %s", (heading, reads) => {
  it("lists exactly the variables that are read, with defaults and bounds", () => {
    const told = new Map([...toldBelow(heading), ...toldBelow("Every process")]);
    const known = knownTo(reads);
    expect([...told.keys()].sort()).toEqual([...known.keys()].sort());
    for (const [name, facts] of known) {
      // The default of a burst depends on another variable.
      const expected = name === "KEY_RATE_BURST" ? { ...facts, fallback: "a second's worth" } : facts;
      expect(told.get(name), name).toMatchObject(expected);
    }
  });
});

it("docs/configuration.md lists the ports that npm start uses", async () => {
  const asked = new Set<string>();
  const environment = new Proxy<NodeJS.ProcessEnv>({}, { get: (_, name) => void asked.add(String(name)) });
  await choosePorts(environment, anyPorts);
  const told = rowsOf("npm start").flatMap(([, names = ""]) => [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name));
  expect(told).toEqual(expect.arrayContaining([...asked]));
});
