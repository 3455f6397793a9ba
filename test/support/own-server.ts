import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepareDatabase } from "../../deploy/local/database.ts";
import { findDatabaseServer } from "../../deploy/local/database-server.ts";

/** A database server for one test file alone, for things that would disturb others. */
export interface OwnServer {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startOwnServer(args: readonly string[] = []): Promise<OwnServer> {
  const folder = await mkdtemp(join(tmpdir(), "setpoint-server-"));
  const { signal } = new AbortController();
  const database = await prepareDatabase({
    server: await findDatabaseServer({ report: () => {} }),
    dataDir: join(folder, "data"),
    logFile: join(folder, "database.log"),
    durable: false,
    args,
    signal,
  });
  const running = await database.start(signal);
  return {
    url: database.serverUrl,
    stop: async () => {
      await running.stop();
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
