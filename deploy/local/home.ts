import { accessSync, constants, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { StartError } from "./start-error.ts";

/** The root of the repository. */
export const repositoryRoot = resolve(import.meta.dirname, "../..");

/** The files of a running system. Nobody else may read them: they include keys. */
export interface Home {
  readonly path: string;
  readonly dataDir: string;
  readonly logs: string;
  readonly compileCache: string;
  readonly runFile: string;
  readonly credentialsFile: string;
  readonly signingKeyFile: string;
  readonly upstreamsFile: string;
  logFile(process: string): string;
}

export function openHome(environment: NodeJS.ProcessEnv): Home {
  const path = resolve(environment.SETPOINT_HOME || join(repositoryRoot, ".setpoint"));
  const logs = join(path, "logs");
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    mkdirSync(logs, { recursive: true, mode: 0o700 });
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new StartError(
      `Setpoint cannot keep its data in ${path}: ${(error as Error).message}
Make it a folder that you own and may write to, or choose another:  SETPOINT_HOME="$HOME/setpoint" npm start`,
    );
  }
  return {
    path,
    dataDir: join(path, "data"),
    logs,
    compileCache: join(path, "compile-cache"),
    runFile: join(path, "run.json"),
    credentialsFile: join(path, "credentials.json"),
    signingKeyFile: join(path, "signing-key.pem"),
    upstreamsFile: join(path, "upstreams.json"),
    logFile: (process) => join(logs, `${process}.log`),
  };
}
