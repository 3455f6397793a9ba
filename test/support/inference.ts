import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dialectNames } from "../../gateway/dialects/dialect-name.ts";
import type { CallName } from "../../gateway/inference/calls.ts";
import { metricOf } from "./metrics.ts";
import { type Stack, startStack } from "./stack.ts";

type StackOptions = NonNullable<Parameters<typeof startStack>[0]>;

/** An upstreams file that a test may change. */
class UpstreamsFile {
  readonly path: string;
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.path = join(folder, "upstreams.json");
  }

  static async create(content: unknown): Promise<UpstreamsFile> {
    const file = new UpstreamsFile(await mkdtemp(join(tmpdir(), "setpoint-upstreams-")));
    await file.write(content);
    return file;
  }

  /** A path beside the file, for secrets. */
  beside(name: string): string {
    return join(this.#folder, name);
  }

  /** Replaces the whole file at once. Text is written as it is. */
  async write(content: unknown): Promise<void> {
    const next = join(this.#folder, "next");
    await writeFile(next, typeof content === "string" ? content : JSON.stringify(content));
    await rename(next, this.path);
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true });
  }
}

/** A table entry: an upstream that serves every model in every dialect, unless the members say otherwise. */
export function entryOf({ url }: { readonly url: string }, members: object = {}): object {
  return { name: "main", base_url: url, dialects: dialectNames, models: ["*"], ...members };
}

/** A stack whose gateway has these upstreams. */
export interface InferenceStack extends Stack {
  readonly file: UpstreamsFile;
  /** Sends a request with the organization's API key; the response is not read. */
  send(call: CallName, body: unknown, init?: RequestInit & { headers?: Record<string, string> }): Promise<Response>;
  /** The sum of a metric, by its name and parts of its labels. */
  metric(name: string, ...labels: readonly string[]): Promise<number>;
}

/** A chat request as raw HTTP, for tests that do what `fetch` cannot. */
export function chatRequestText(key: string, body: string): string {
  const head = [
    "POST /api/v1/chat/completions HTTP/1.1",
    "host: test",
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

export async function startInferenceStack(upstreams: unknown, options: StackOptions = {}): Promise<InferenceStack> {
  const file = await UpstreamsFile.create(upstreams);
  const gateway = { upstreamsFile: file.path, ...options.gateway };
  const stack = await startStack({ ...options, gateway }).catch(async (error: unknown) => {
    await file.remove();
    throw error;
  });
  return {
    ...stack,
    file,
    send: (call, body, init = {}) =>
      fetch(`${stack.baseUrl}/api/v1/${call}`, {
        method: "POST",
        body: typeof body === "string" ? body : JSON.stringify(body),
        ...init,
        headers: {
          authorization: `Bearer ${stack.apiKey}`,
          "content-type": "application/json",
          ...init.headers,
        },
      }),
    metric: (name, ...labels) => metricOf(stack.metricsUrl, name, ...labels),
    close: async () => {
      await stack.close();
      await file.remove();
    },
  };
}
