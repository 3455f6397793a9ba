import type { BackgroundProcess } from "./background-process.ts";
import type { DatabaseServer } from "./database-server.ts";

export interface DatabaseOptions {
  readonly server: DatabaseServer;
  /** Made where it is missing. Its parent holds the socket. */
  readonly dataDir: string;
  readonly logFile: string;
  /** Whether a commit must survive a crash of the machine. Tests do without, and are faster. */
  readonly durable: boolean;
  /** More arguments for a server that is installed here. */
  readonly args?: readonly string[];
  readonly signal: AbortSignal;
}

/** A server of our own, ready to be started, and started again after a crash. */
export interface PrivateDatabase {
  /** Where it listens; the same for each start. Names no database. */
  readonly serverUrl: string;
  /** Starts it and waits until it takes connections. */
  start(signal: AbortSignal): Promise<BackgroundProcess>;
  /** Removes what was made for this run. The data stays. */
  close(): Promise<void>;
}
