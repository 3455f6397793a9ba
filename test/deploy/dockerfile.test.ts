import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { validate } from "dockerfile-utils";
import { describe, expect, it } from "vitest";
import { repositoryRoot } from "../../deploy/local/home.ts";
import { runProgram } from "../../deploy/local/program.ts";
import { copySources, dockerfile, filesToCopy, type Instruction, isIgnored, readStages } from "../support/image.ts";
import { containersOf, isOurs, podsOf, portsOf, production, renderings } from "../support/manifests.ts";

const [dependencies = [], builder = [], compiled = [], final = []] = readStages();
const texts = (stage: readonly Instruction[], keyword: string) =>
  stage.filter((instruction) => instruction.keyword === keyword).map(({ text }) => text);
const files = ["package.json", "proto", "services", "gateway"].flatMap(filesToCopy);

describe("the Dockerfile", () => {
  it("passes the linter", () => {
    expect(validate(dockerfile)).toEqual([]);
  });

  it("builds and runs on the Node version of the tests", () => {
    const { dependencies: packages } = JSON.parse(readFileSync("package.json", "utf8"));
    expect(dockerfile).toContain(`ARG NODE_VERSION=${packages.node}\n`);
    const image = "node:$" + "{NODE_VERSION}-trixie-slim";
    const from = [dependencies, builder, compiled, final].flatMap((stage) => texts(stage, "FROM"));
    expect(from).toEqual([`${image} AS dependencies`, `${image} AS console`, `${image} AS compiled`, image]);
  });

  it("copies the sources, migrations and generated code that the processes need, but no tests", () => {
    expect(texts(final, "COPY")).toEqual([
      "/app/node_modules ./node_modules",
      "package.json ./",
      "proto ./proto",
      "services ./services",
      "gateway ./gateway",
      "/app/gateway/console/dist ./gateway/console/dist",
      "/tmp/compile-cache ./compile-cache",
    ]);
    const isOfConsole = (file: string) => file.startsWith("gateway/console/app/");
    const isSource = (file: string) => /^(package\.json|(gateway|services|proto\/gen)\/.+\.(ts|sql))$/.test(file);
    expect(files.filter((file) => !isOfConsole(file) && !isSource(file))).toEqual([]);
    expect(files.filter((file) => file.endsWith(".test.ts"))).toEqual([]);
    expect(files).toContain("services/preset/store/migrations/0001_presets.sql");
  });

  it("builds the console from sources, ignoring an earlier build", () => {
    expect(texts(builder, "COPY")).toEqual([
      "package.json package-lock.json ./",
      "services ./services",
      "gateway ./gateway",
    ]);
    expect(texts(builder, "RUN").at(-1)).toBe("node gateway/console/build.ts");
    expect(files).toContain("gateway/console/app/index.html");
    expect(isIgnored("gateway/console/dist/index.html")).toBe(true);
  });

  it("copies everything that the console build needs", { timeout: 120_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "setpoint-image-console-"));
    try {
      copySources(builder, folder);
      symlinkSync(join(repositoryRoot, "node_modules"), join(folder, "node_modules"));
      await runProgram(process.execPath, [join(folder, "gateway/console/build.ts")], { env: process.env });
      expect(existsSync(join(folder, "gateway/console/dist/index.html"))).toBe(true);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("fills the compile cache from the same files, at the same paths, as the same user", () => {
    const isShared = (text: string) => !/dist$|cache$/.test(text);
    expect(texts(compiled, "COPY")).toEqual(texts(final, "COPY").filter(isShared));
    for (const keyword of ["WORKDIR", "USER"]) expect(texts(compiled, keyword)).toEqual(texts(final, keyword));
    expect(texts(final, "ENV").join(" ")).toContain("NODE_COMPILE_CACHE=/app/compile-cache");
  });

  it.each([".git/HEAD", ".setpoint/credentials.json", "node_modules/vitest/package.json", "test/support/image.ts"])(
    "keeps %s out of the image",
    (path) => {
      expect(isIgnored(path)).toBe(true);
    },
  );

  it("runs as the numeric non-root user that the manifests set", () => {
    const [user = ""] = texts(final, "USER");
    const [uid, gid] = user.split(":").map(Number);
    expect(uid).toBeGreaterThan(0);
    const ours = renderings.flatMap(podsOf).filter((pods) => containersOf(pods).every(isOurs));
    expect(ours.length).toBeGreaterThanOrEqual(3 * renderings.length);
    for (const { owner, spec } of ours) {
      expect(spec.securityContext, owner).toMatchObject({ runAsUser: uid, runAsGroup: gid });
    }
  });

  it("runs Node as process 1, without a shell that would swallow signals", () => {
    expect(texts(final, "ENTRYPOINT")).toEqual(["[]"]);
    expect(texts(final, "STOPSIGNAL")).toEqual(["SIGTERM"]);
    expect(JSON.parse(texts(final, "CMD")[0] ?? "")).toEqual(["node", "gateway/main.ts"]);
  });

  it("exposes the ports that the manifests open", () => {
    const opened = podsOf(production)
      .flatMap(portsOf)
      .map(({ containerPort }) => String(containerPort));
    expect(texts(final, "EXPOSE")[0]?.split(" ").sort()).toEqual(opened.sort());
  });

  it("contains every program that the manifests run", () => {
    const commands = renderings
      .flatMap(podsOf)
      .flatMap(containersOf)
      .filter(isOurs)
      .map(({ command = [] }) => command);
    const programs = commands.filter(([, program]) => program !== "--eval");
    expect(new Set(commands.map(([runtime]) => runtime))).toEqual(new Set(["node"]));
    expect(files).toEqual(expect.arrayContaining(programs.map(([, program]) => program)));
  });
});
