import { cpSync, globSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import dockerignore from "@balena/dockerignore";
import { DockerfileParser, ModifiableInstruction } from "dockerfile-ast";

const root = fileURLToPath(new URL("../../", import.meta.url));

export const dockerfile = readFileSync(join(root, "deploy/Dockerfile"), "utf8");

/** One instruction of the Dockerfile: `COPY`, its flags such as `--from=dependencies`, and the rest, as written. */
export interface Instruction {
  readonly keyword: string;
  readonly flags: readonly string[];
  readonly text: string;
}

/** The instructions of each stage, each beginning with its FROM. */
export function readStages(): Instruction[][] {
  const stages: Instruction[][] = [];
  for (const instruction of DockerfileParser.parse(dockerfile).getInstructions()) {
    const keyword = instruction.getKeyword();
    if (keyword === "FROM") stages.push([]);
    const flags = instruction instanceof ModifiableInstruction ? instruction.getFlags().map(String) : [];
    const words = instruction.getArguments().map((argument) => argument.getValue());
    stages.at(-1)?.push({ keyword, flags, text: words.join(" ") });
  }
  return stages;
}

const ignore = dockerignore.default().add(readFileSync(join(root, ".dockerignore"), "utf8"));

/** Whether .dockerignore excludes a path of the checkout from builds. */
export function isIgnored(path: string): boolean {
  return ignore.ignores(path);
}

/** The files that a COPY of this path takes from the checkout. */
export function filesToCopy(path: string): string[] {
  const files = statSync(join(root, path)).isFile()
    ? [path]
    : // Not readdir, which fails if a folder disappears meanwhile: the console may be built at the same time.
      globSync("**/*", { cwd: join(root, path), withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
  return files.filter((file) => !isIgnored(file));
}

/** Does what those COPY instructions of a stage do that take files from the checkout, into a folder. */
export function copySources(stage: readonly Instruction[], folder: string): void {
  for (const { keyword, flags, text } of stage) {
    if (keyword !== "COPY" || flags.length > 0) continue;
    // Every COPY here keeps the paths.
    for (const file of text.split(" ").slice(0, -1).flatMap(filesToCopy)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      cpSync(join(root, file), join(folder, file));
    }
  }
}
