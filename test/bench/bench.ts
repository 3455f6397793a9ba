import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { findDatabaseServer } from "../../deploy/local/database-server.ts";
import { StartError } from "../../deploy/local/start-error.ts";
import { compare } from "./compare.ts";
import type { Context, Outcome } from "./context.ts";
import { measureDepth } from "./depth.ts";
import { openDatabases } from "./fill.ts";
import { grow } from "./growth.ts";
import { measureInference } from "./inference/inference.ts";
import { measureLatency } from "./latency/latency.ts";
import { startLoad } from "./load-process.ts";
import { type Mode, type Options, readOptions, UsageError, usage } from "./options.ts";
import { openSetpoint, openYardstick, type Side } from "./processes.ts";
import { describeProfiles } from "./profile.ts";
import { say } from "./progress.ts";
import { soak } from "./soak.ts";

const modes: Readonly<Record<Mode, (context: Context) => Promise<Outcome>>> = {
  compare,
  growth: grow,
  depth: measureDepth,
  inference: measureInference,
  latency: measureLatency,
  soak,
};

const stopping = new AbortController();
const closers: (() => Promise<void> | void)[] = [];

for (const name of ["SIGINT", "SIGTERM"] as const) {
  process.on(name, () => stopping.abort(new StartError(`Stopped by ${name}`)));
}

/** Closes all that was opened, last first, and also what is opened meanwhile. */
async function close(): Promise<void> {
  for (let closeOne = closers.pop(); closeOne; closeOne = closers.pop()) {
    try {
      await closeOne();
    } catch (error) {
      say(`Not closed cleanly: ${error}`);
    }
  }
}

async function run(options: Options): Promise<boolean> {
  const { signal } = stopping;
  const opened = (closeOne: () => Promise<void> | void): void => {
    closers.push(closeOne);
  };
  const folder = await mkdtemp(join(tmpdir(), "setpoint-bench-"));
  opened(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));
  const profileFolder = options.profile ? await mkdtemp(join(tmpdir(), "setpoint-profile-")) : undefined;
  const server = await findDatabaseServer({ report: say });
  say(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, ${server.title}, data in ${folder}`);

  const room = { folder, signal, opened, profileFolder, records: options.mode === "latency" };
  const openSide = async (start: typeof openSetpoint) => {
    const side: Side = await start({ ...room, server });
    const { PRESET_DATABASE_URL, ORGANIZATION_DATABASE_URL } = side.urls;
    const databases = await openDatabases({ preset: PRESET_DATABASE_URL, organization: ORGANIZATION_DATABASE_URL });
    opened(databases.close);
    return { side, databases };
  };
  const load = startLoad();
  opened(load.close);
  const setpoint = await openSide(openSetpoint);
  const outcome = await modes[options.mode]({
    load,
    setpoint,
    options,
    room,
    openYardstick: () => openSide(openYardstick),
  });
  await close();
  if (profileFolder !== undefined) say(await describeProfiles(profileFolder));
  if (options.json === "-") process.stdout.write(`${JSON.stringify(outcome.json, null, 2)}\n`);
  else if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(outcome.json, null, 2)}\n`);
  (options.json === "-" ? say : console.log)(`\n${outcome.text}`);
  const stored = options.mode === "inference" ? "" : "; every acknowledged creation is stored once, without gaps";
  say(outcome.faults.length === 0 ? `\nNo errors${stored}.` : "");
  for (const fault of outcome.faults) say(`FAULT: ${fault}`);
  return outcome.faults.length === 0;
}

try {
  const options = readOptions(process.argv.slice(2));
  const aborted = new Promise<never>((_, reject) => {
    stopping.signal.addEventListener("abort", () => reject(stopping.signal.reason));
  });
  if (!options) console.log(usage);
  else if (!(await Promise.race([run(options), aborted]))) process.exitCode = 1;
} catch (error) {
  const isExpected = error instanceof StartError || error instanceof UsageError;
  say(isExpected ? error.message : String((error as Error).stack));
  if (error instanceof UsageError) say(`\n${usage}`);
  process.exitCode = 1;
} finally {
  await close();
}
process.exit();
