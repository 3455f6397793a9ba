import { readFileSync, unwatchFile, watchFile } from "node:fs";
import { resolve } from "node:path";
import { writePrivateFile } from "./private-file.ts";
import { StartError } from "./start-error.ts";

interface UpstreamTable {
  readonly upstreams: readonly unknown[];
}

interface UpstreamsOptions {
  /** What the gateway reads. */
  readonly file: string;
  /** The user's own table; undefined where there is none. */
  readonly ownFile: string | undefined;
  readonly echoPort: number;
  readonly say: (line: string) => void;
}

const echoName = "echo";
const watchIntervalMs = 500;

/**
 * Writes the table of upstreams for the gateway: the echo upstream, and beside it those of the user's own table. When
 * that changes, it is written again. Returns how to end that.
 */
export function keepUpstreams({ file, ownFile, echoPort, say }: UpstreamsOptions): () => void {
  const write = (own: UpstreamTable): void => {
    const upstreams = [...(own.upstreams.some(isEcho) ? [] : [echoUpstream(echoPort)]), ...own.upstreams];
    writePrivateFile(file, `${JSON.stringify({ ...own, upstreams }, null, 2)}\n`);
  };
  if (!ownFile) {
    write({ upstreams: [] });
    return () => {};
  }
  const path = resolve(ownFile);
  write(readTable(path));
  const follow = (): void => {
    try {
      write(readTable(path));
    } catch (error) {
      say(`  ${(error as Error).message} Until then the table stays as it was.`);
    }
  };
  // By looking at it again and again: that also sees a file that is replaced by another.
  watchFile(path, { interval: watchIntervalMs, persistent: false }, follow);
  return () => unwatchFile(path, follow);
}

function readTable(path: string): UpstreamTable {
  const wrong = (fault: string): StartError => new StartError(`UPSTREAMS_FILE ${path} ${fault}. Mend it.`);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw wrong(`cannot be read: ${(error as Error).message}`);
  }
  let table: unknown;
  try {
    table = JSON.parse(text);
  } catch (error) {
    throw wrong(`is not JSON: ${(error as Error).message}`);
  }
  const { upstreams } = (table ?? {}) as Partial<UpstreamTable>;
  if (!Array.isArray(upstreams)) throw wrong('holds no list "upstreams"');
  return table as UpstreamTable;
}

/** First, so that a pattern such as `*` of the user's does not take its models. */
function echoUpstream(port: number): object {
  return {
    name: echoName,
    base_url: `http://127.0.0.1:${port}/v1`,
    dialects: ["chat/completions", "messages", "responses"],
    models: ["echo/*"],
  };
}

/** An upstream of the user's by this name takes the place of ours. */
function isEcho(upstream: unknown): boolean {
  return (upstream as { name?: unknown } | null)?.name === echoName;
}
