import { existsSync, truncateSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { startInBackground } from "../../../deploy/local/background-process.ts";
import { findFreePort } from "../../../deploy/local/ports.ts";
import { runProgram } from "../../../deploy/local/program.ts";
import { lookForHttpFault, waitUntilUp } from "../../../deploy/local/readiness.ts";
import type { Room, Target } from "../processes.ts";
import { say } from "../progress.ts";
import { cacheFolder } from "./cache-folder.ts";

const release = "1.15.2";

/** The gateway that a user of Node would pick. It is no dependency: it is fetched from npm by the first run. */
export async function openPortkey({ folder, signal, opened }: Room): Promise<Target> {
  const home = join(cacheFolder(), `portkey-${release}`);
  const entryFile = join(home, "node_modules/@portkey-ai/gateway/build/start-server.js");
  if (!existsSync(entryFile)) {
    say(`installing Portkey ${release} into ${home} (once, about half a minute)`);
    await mkdir(home, { recursive: true });
    const args = ["install", "--prefix", home, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    await runProgram("npm", [...args, `@portkey-ai/gateway@${release}`], { signal });
  }
  const port = await findFreePort();
  const logFile = join(folder, "portkey.log");
  const child = startInBackground({
    command: process.execPath,
    args: ["--import", join(import.meta.dirname, "portkey-streams.ts"), entryFile, `--port=${port}`, "--headless"],
    // It refuses inner addresses unless it is told that they are meant.
    env: { ...process.env, NODE_ENV: "production", TRUSTED_CUSTOM_HOSTS: "127.0.0.1,localhost" },
    logFile,
  });
  opened(() => child.stop());
  const lookForFault = () => lookForHttpFault(`http://127.0.0.1:${port}/`);
  await waitUntilUp(child, { title: "Portkey", logFile, lookForFault, signal });
  return {
    name: "portkey",
    port,
    processes: [{ name: "portkey", pid: child.pid }],
    rotateLogs: () => truncateSync(logFile),
  };
}
