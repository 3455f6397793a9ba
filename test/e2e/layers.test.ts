import { globSync, readFileSync } from "node:fs";
import { dirname, join, matchesGlob, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { buildSources } from "../../gateway/console/build-sources.ts";

const root = join(import.meta.dirname, "../..");
// Not readdir, which fails if a folder disappears meanwhile: the console may be built at the same time.
const sources = globSync("{gateway,services,deploy/local}/**/*.{ts,tsx}", { cwd: root }).filter(
  (file) => !/\.test\.tsx?$/.test(file),
);

/** What each file imports: repository files by path, packages by name. */
function importsOf(ignored: RegExp): ReadonlyMap<string, readonly string[]> {
  return new Map(
    sources.map((file) => {
      const text = readFileSync(join(root, file), "utf8").replaceAll(ignored, "");
      const named = [...text.matchAll(/(?:\bfrom|\bimport\(?) ?"([^"]+)"/g)].map(([, name = ""]) => name);
      return [file, named.map((name) => (name.startsWith(".") ? normalize(join(dirname(file), name)) : name))];
    }),
  );
}

const imports = importsOf(/^$/g);
/** Without those that only exist while types are checked. */
const importsAtRuntime = importsOf(/^(?:import|export) type [^;]*;/gm);

/** The matching imports from one folder, as readable lines. */
function found(folder: RegExp, isOfKind: (imported: string) => boolean): string[] {
  return [...imports]
    .filter(([file]) => folder.test(file))
    .flatMap(([file, names]) => names.filter(isOfKind).map((name) => `${file} imports ${name}`));
}

/** Everything that a file imports, directly or indirectly. */
function reachedFrom(file: string, reached = new Set<string>(), from = imports): Set<string> {
  for (const name of from.get(file) ?? []) {
    if (reached.has(name)) continue;
    reached.add(name);
    reachedFrom(name, reached, from);
  }
  return reached;
}

const isService = (name: string) => /^services\/(preset|organization)\//.test(name);

it("finds the imports", () => {
  expect(imports.get("gateway/command-line.ts")).toContain("gateway/app.ts");
  expect(imports.size).toBeGreaterThan(300);
});

describe("imports", () => {
  it("of the gateway include nothing of a service but its contract", () => {
    expect(found(/^gateway\//, isService)).toEqual([]);
  });

  it("of the services include neither each other nor the gateway", () => {
    expect(found(/^services\/preset\//, (name) => /^(services\/organization|gateway)\//.test(name))).toEqual([]);
    expect(found(/^services\/organization\//, (name) => /^(services\/preset|gateway)\//.test(name))).toEqual([]);
  });

  it("of the platform include neither services nor gateway", () => {
    expect(found(/^services\/platform\//, (name) => isService(name) || name.startsWith("gateway/"))).toEqual([]);
  });

  it("of time and memory, which all others may use, include no other folder of the platform", () => {
    const isOther = (name: string) =>
      name.startsWith("services/") && !/^services\/platform\/(time|memory)\//.test(name);
    expect(found(/^services\/platform\/(time|memory)\//, isOther)).toEqual([]);
  });

  it("of a domain include no transport and no database", () => {
    const isForbidden = (name: string) =>
      /^(@bufbuild|@connectrpc|@grpc|fastify|mysql2|proto\/)/.test(name) ||
      /^services\/\w+\/(rpc|store|mysql|http)\//.test(name);
    expect(found(/^services\/\w+\/domain\//, isForbidden)).toEqual([]);
  });

  it("of the merge do no I/O, directly or indirectly", () => {
    const isForbidden = (name: string) => /^(node:|fastify$|mysql2|@grpc|@connectrpc)/.test(name);
    const reached = [...reachedFrom("gateway/inference/merge/merge.ts")];
    expect(reached).toContain("gateway/inference/request/request-body.ts");
    expect(reached.filter(isForbidden)).toEqual([]);
  });

  it("of the console are all among the sources whose change causes a build", () => {
    const app = sources.filter((file) => file.startsWith("gateway/console/app/"));
    const reached = new Set(app.flatMap((file) => [...reachedFrom(file, new Set(), importsAtRuntime)]));
    const files = [...reached].filter((name) => /\.tsx?$/.test(name));
    expect(files).toContain("gateway/json/refusal-texts.ts");
    expect(files.filter((file) => !buildSources.some((source) => matchesGlob(file, source)))).toEqual([]);
  });

  it("have no cycles, including type imports", () => {
    expect(sources.filter((file) => reachedFrom(file).has(file))).toEqual([]);
  });
});
