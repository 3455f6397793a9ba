import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { numberText, textTable } from "./text-table.ts";

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

type Frame = CpuProfile["nodes"][number]["callFrame"];

const shownMax = 20;
const idleNames = new Set(["(idle)", "(root)"]);

/** Where each process spent its own time; the files can be opened in any viewer of CPU profiles. */
export async function describeProfiles(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".cpuprofile")).sort();
  const parts = await Promise.all(
    names.map(async (name) => {
      const profile: CpuProfile = JSON.parse(await readFile(join(folder, name), "utf8"));
      const byPackage = textTable(["%", "package"], busiest(profile, packageOf));
      const byFunction = textTable(["%", "function"], busiest(profile, functionOf));
      return `\n== ${basename(name, ".cpuprofile")}\n${byPackage}\n\n${byFunction}`;
    }),
  );
  return `${parts.join("\n")}\n\nCPU profiles are in ${folder}`;
}

/** Shares of the time that the process was at work, in percent, by whatever `nameOf` makes of a frame. */
function busiest(profile: CpuProfile, nameOf: (frame: Frame) => string): string[][] {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const spent = new Map<string, number>();
  let total = 0;
  for (const [index, id] of profile.samples.entries()) {
    const frame = frames.get(id);
    if (!frame || idleNames.has(frame.functionName)) continue;
    const us = profile.timeDeltas[index] ?? 0;
    total += us;
    const name = nameOf(frame);
    spent.set(name, (spent.get(name) ?? 0) + us);
  }
  const sorted = [...spent].sort(([, a], [, b]) => b - a).slice(0, shownMax);
  return sorted.map(([name, us]) => [numberText((100 * us) / total, 1), name]);
}

/** An npm package, a module of Node, the engine itself, or a folder of ours. */
function packageOf({ url, functionName }: Frame): string {
  if (url === "") return functionName.startsWith("(") ? functionName : "(native)";
  const installed = url.split("/node_modules/").at(-1) ?? "";
  if (installed !== url) return installed.split("/", installed.startsWith("@") ? 2 : 1).join("/");
  if (url.startsWith("node:")) return url.split("/", 2).join("/");
  const own = /\/(gateway|services\/\w+|proto|test)\//.exec(url)?.[1];
  return own ?? url;
}

function functionOf(frame: Frame): string {
  const name = frame.functionName || "(anonymous)";
  if (frame.url === "") return name;
  // The end of the path is enough to find it.
  return `${name}  ${frame.url.split("/").slice(-4).join("/")}:${frame.lineNumber + 1}`;
}
