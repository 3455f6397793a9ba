import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { loopbackHost } from "./ports.ts";
import { writePrivateFile } from "./private-file.ts";
import { StartError } from "./start-error.ts";

interface UpstreamTable {
  readonly upstreams: readonly unknown[];
}

interface UpstreamsOptions {
  /** The file that the gateway reads. */
  readonly file: string;
  /** Names the user's own table, if there is one. */
  readonly environment: NodeJS.ProcessEnv;
  readonly echoPort: number;
  readonly say: (line: string) => void;
}

const echoName = "echo";
const watchIntervalMs = 500;

/**
 * Writes the gateway's table of upstreams: the echo upstream, and those of the user's own table. It is written again
 * whenever the user's table changes, or can be used at last. Returns a function that ends this.
 */
export async function syncUpstreams({ file, environment, echoPort, say }: UpstreamsOptions): Promise<() => void> {
  const write = (own: UpstreamTable): void => {
    const upstreams = [...(own.upstreams.some(isEcho) ? [] : [echoUpstream(echoPort)]), ...own.upstreams];
    try {
      writePrivateFile(file, `${JSON.stringify({ ...own, upstreams }, null, 2)}\n`);
    } catch (error) {
      throw new StartError(`${file} cannot be written: ${(error as Error).message}. Free some disk space.`);
    }
  };
  const ownFile = environment.UPSTREAMS_FILE;
  if (!ownFile) {
    write({ upstreams: [] });
    return () => {};
  }
  const path = resolve(ownFile);
  // Taken before the file is read, so that no change is missed.
  let seen = stampOf(path);
  write(await readTable(path, environment));
  let fault: string | undefined;
  const timer = setInterval(() => {
    const stamp = stampOf(path);
    // A fault may also be mended elsewhere: in the file of a credential, or on the disk.
    if (stamp === seen && fault === undefined) return;
    seen = stamp;
    readTable(path, environment)
      .then(write)
      .then(() => {
        if (fault !== undefined) say(`  UPSTREAMS_FILE ${path} is used again.`);
        fault = undefined;
      })
      .catch(({ message }: Error) => {
        if (message !== fault) say(`  ${message} Until then the last good one is used.`);
        fault = message;
      });
  }, watchIntervalMs).unref();
  return () => clearInterval(timer);
}

/** Changes whenever the file does, even if it is replaced or becomes inaccessible. */
function stampOf(path: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Reads the user's table as the gateway will, so that errors name the file that contains them. */
async function readTable(path: string, environment: NodeJS.ProcessEnv): Promise<UpstreamTable> {
  // Imported only now, so that those without a table of their own need not wait for it.
  const { parseUpstreams } = await import("../../gateway/inference/upstreams/upstreams-file.ts");
  const { readCredential } = await import("../../gateway/inference/upstreams/credentials.ts");
  try {
    const text = await readFile(path, "utf8");
    for (const { name, credential } of parseUpstreams(text)) {
      if (!credential) continue;
      await readCredential(credential, environment).catch(({ message }: Error) => {
        throw new Error(`the credential of ${name} ${message}`);
      });
    }
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new StartError(`UPSTREAMS_FILE ${path} cannot be used: ${(error as Error).message}. Correct it.`);
  }
}

/** Comes first, so that a pattern such as `*` in the user's table does not capture its models. */
function echoUpstream(port: number): object {
  return {
    name: echoName,
    base_url: `http://${loopbackHost}:${port}/v1`,
    dialects: ["chat/completions", "messages", "responses"],
    // The first two are spelled out so that they appear in the list of models.
    models: ["echo/small", "echo/slow", "echo/*"],
  };
}

/** A user's upstream with this name replaces ours. */
function isEcho(upstream: unknown): boolean {
  return (upstream as { name?: unknown } | null)?.name === echoName;
}
