import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { prepareDatabase } from "../../deploy/local/database.ts";
import { lookForConnectionFault } from "../../deploy/local/database-connection.ts";
import { findDatabaseServer } from "../../deploy/local/database-server.ts";
import { StartError } from "../../deploy/local/start-error.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of a server on which tests may create databases; it names none. */
    databaseServerUrl: string;
  }
}

/** Gives all test files one server: that of TEST_DATABASE_URL, or a private one that is deleted afterwards. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const givenUrl = process.env.TEST_DATABASE_URL;
  if (givenUrl) {
    const fault = await lookForConnectionFault(givenUrl);
    if (fault)
      endWithSentence(
        new StartError(`The server of TEST_DATABASE_URL cannot be used: ${fault}. Start it, or correct the address.`),
      );
    project.provide("databaseServerUrl", givenUrl);
    return (await openFolder()).remove;
  }
  const server = await findDatabaseServer({
    ownServer:
      "set TEST_DATABASE_URL to a server on which the tests may make databases, such as mysql://root@127.0.0.1",
    report: (text) => process.stderr.write(`${text}\n`),
  }).catch(endWithSentence);
  const { folder, remove } = await openFolder();
  const logFile = join(folder, "database.log");
  const { signal } = new AbortController();
  const database = await prepareDatabase({ server, dataDir: join(folder, "data"), logFile, durable: false, signal });
  const running = await database.start(signal);
  project.provide("databaseServerUrl", database.serverUrl);
  return async () => {
    await running.stop();
    await database.close();
    await remove();
  };
}

/** The run's own folder. Tests start many processes, and each finds there what earlier ones have compiled. */
async function openFolder(): Promise<{ readonly folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "setpoint-test-"));
  process.env.NODE_COMPILE_CACHE = join(folder, "compile-cache");
  const dismissWatchdog = startWatchdog(folder);
  return {
    folder,
    remove: async () => {
      // A process that is ending may still be writing compiled code there.
      await rm(folder, { recursive: true, force: true, maxRetries: 20 });
      dismissWatchdog();
    },
  };
}

/** Vitest would show a stack, which does not help anybody to install a database. */
function endWithSentence(error: unknown): never {
  if (!(error instanceof StartError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}

/** Removes the folder, and the server that runs in it, if this process is killed before it can do so itself. */
function startWatchdog(folder: string): () => void {
  // Retried until it succeeds: a server that is still stopping, or still being set up, writes into the folder.
  const script = 'cat; kill -9 $(cat "$0/data/server.pid"); until rm -rf "$0"; do sleep 0.1; done';
  const watchdog = spawn("sh", ["-c", script, folder], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  watchdog.unref();
  return () => watchdog.kill();
}
