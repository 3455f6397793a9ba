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
  /** What the gateway reads. */
  readonly file: string;
  /** Names the user's own table, where there is one. */
  readonly environment: NodeJS.ProcessEnv;
  readonly echoPort: number;
  readonly say: (line: string) => void;
}

const echoName = "echo";
const watchIntervalMs = 500;

/**
 * Writes the table of upstreams for the gateway: the echo upstream, and beside it those of the user's own table. When
 * that changes, it is written again. Returns how to end that.
 */
export async function keepUpstreams({ file, environment, echoPort, say }: UpstreamsOptions): Promise<() => void> {
  const write = (own: UpstreamTable): void => {
    const upstreams = [...(own.upstreams.some(isEcho) ? [] : [echoUpstream(echoPort)]), ...own.upstreams];
    try {
      writePrivateFile(file, `${JSON.stringify({ ...own, upstreams }, null, 2)}\n`);
    } catch (error) {
      throw new StartError(
        `${file} cannot be written: ${(error as Error).message}. Free some disk space, and save your table again.`,
      );
    }
  };
  const ownFile = environment.UPSTREAMS_FILE;
  if (!ownFile) {
    write({ upstreams: [] });
    return () => {};
  }
  const path = resolve(ownFile);
  // From before it is read, so that no change is missed.
  let seen = stampOf(path);
  write(await readTable(path, environment));
  const timer = setInterval(() => {
    const stamp = stampOf(path);
    if (stamp === seen) return;
    seen = stamp;
    readTable(path, environment)
      .then(write)
      .catch((error: Error) => say(`  ${error.message} Until then the last good one is used.`));
  }, watchIntervalMs).unref();
  return () => clearInterval(timer);
}

/** Another one with every change, also where the file is replaced by another or cannot be looked at any more. */
function stampOf(path: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Reads the user's table as the gateway will, so that its faults are told of the file that has them. */
async function readTable(path: string, environment: NodeJS.ProcessEnv): Promise<UpstreamTable> {
  // Only now: who has no table of their own need not wait for it.
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

/** First, so that a pattern such as `*` of the user's does not take its models. */
function echoUpstream(port: number): object {
  return {
    name: echoName,
    base_url: `http://${loopbackHost}:${port}/v1`,
    dialects: ["chat/completions", "messages", "responses"],
    // The first two are named so that they are listed as models.
    models: ["echo/small", "echo/slow", "echo/*"],
  };
}

/** An upstream of the user's by this name takes the place of ours. */
function isEcho(upstream: unknown): boolean {
  return (upstream as { name?: unknown } | null)?.name === echoName;
}
