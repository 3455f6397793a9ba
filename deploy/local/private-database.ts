import type { BackgroundProcess } from "./background-process.ts";
import type { DatabaseServer } from "./database-server.ts";

export interface DatabaseOptions {
  readonly server: DatabaseServer;
  /** Created if it is missing. Its parent holds the socket. */
  readonly dataDir: string;
  readonly logFile: string;
  /** Whether a commit must survive a crash of the machine. Tests do without that, and are faster. */
  readonly durable: boolean;
  /** More arguments for a server that is installed on this machine. */
  readonly args?: readonly string[];
  readonly signal: AbortSignal;
}

/** A private server, ready to be started, and to be restarted after a crash. */
export interface PrivateDatabase {
  /** Where it listens; the same for every start. Names no database. */
  readonly serverUrl: string;
  /** Starts it and waits until it accepts connections. */
  start(signal: AbortSignal): Promise<BackgroundProcess>;
  /** Removes what was created for this run. The data stays. */
  close(): Promise<void>;
}
