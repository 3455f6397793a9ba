import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { DescFile } from "@bufbuild/protobuf";

const generated = fileURLToPath(new URL("../../proto/gen/", import.meta.url));

/** Every generated file of the contract, so that tests cover whatever is added to it. */
export async function contractFiles(): Promise<DescFile[]> {
  const paths = readdirSync(generated, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith("_pb.ts"));
  const modules = await Promise.all(paths.map((path) => import(`${generated}${path}`)));
  return modules.flatMap((module) => Object.values(module as object).filter((value) => value?.kind === "file"));
}
