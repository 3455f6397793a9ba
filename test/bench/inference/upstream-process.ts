import { truncateSync } from "node:fs";
import { join } from "node:path";
import { startInBackground } from "../../../deploy/local/background-process.ts";
import { findFreePort } from "../../../deploy/local/ports.ts";
import { lookForHttpFault, waitUntilUp } from "../../../deploy/local/readiness.ts";
import type { Room, Target } from "../processes.ts";

/** What is behind every gateway. Its processor time is nobody's. */
export async function openUpstream({ folder, signal, opened }: Room): Promise<Target> {
  const port = await findFreePort();
  const logFile = join(folder, "upstream.log");
  const child = startInBackground({
    command: process.execPath,
    args: [join(import.meta.dirname, "upstream.ts")],
    env: { ...process.env, PORT: String(port) },
    logFile,
  });
  opened(() => child.stop());
  const lookForFault = () => lookForHttpFault(`http://127.0.0.1:${port}/`);
  await waitUntilUp(child, { title: "The upstream", logFile, lookForFault, signal });
  return { name: "upstream", port, processes: [], rotateLogs: () => truncateSync(logFile) };
}
