import { request as httpRequest } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { documentedFetch, expectDocumented } from "./answers.ts";

/** A preset as the gateway shows it. */
export interface PresetJson {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly description: string | null;
  readonly status: string;
  readonly status_updated_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly creator_user_id: string;
  readonly workspace_id: string;
  readonly designated_version_id: string;
  readonly designated_version: {
    readonly id: string;
    readonly preset_id: string;
    readonly version: number;
    readonly config: Readonly<Record<string, unknown>>;
    readonly system_prompt: string | null;
    readonly dialect: string | null;
    readonly creator_id: string;
    readonly created_at: string;
    readonly updated_at: string;
  };
}

interface ErrorJson {
  readonly code: number;
  readonly message: string;
  readonly metadata: {
    readonly request_id: string;
    readonly issues?: readonly { readonly path: string; readonly message: string }[];
  };
}

/** A response, read to its end. */
export interface Answer<Data = PresetJson> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The content of the body; which part is there depends on the status. */
  readonly json: { readonly data: Data; readonly total_count: number; readonly error: ErrorJson };
}

export interface RequestParts {
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text and bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown;
}

/** Sends one request and reads the response. A body is sent as `application/json` unless the headers say otherwise. */
export async function request<Data>(method: string, url: string, parts: RequestParts = {}): Promise<Answer<Data>> {
  const { key, body } = parts;
  const isRaw = body === undefined || typeof body === "string" || body instanceof Uint8Array;
  const response = await documentedFetch(url, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...parts.headers,
    },
    body: (isRaw ? body : JSON.stringify(body)) as string | Uint8Array<ArrayBuffer> | null,
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: text === "" ? undefined : JSON.parse(text) };
}

interface RawParts {
  readonly headers?: Readonly<Record<string, string>>;
  /** Written one after the other; without a `content-length` header, they are sent chunked. */
  readonly chunks?: readonly (string | Uint8Array)[];
}

/** Sends what `fetch` would correct: a path as it is, a body of unknown length, a wrong length. */
export function requestRaw(method: string, baseUrl: string, path: string, parts: RawParts = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(baseUrl);
    const outgoing = httpRequest({ hostname, port, method, path, headers: parts.headers, agent: false });
    outgoing.on("error", reject);
    outgoing.on("response", async (incoming) => {
      try {
        const text = await textOf(incoming);
        const headers = new Headers(incoming.headers as Record<string, string>);
        const status = incoming.statusCode ?? 0;
        await expectDocumented(method, path.split("?")[0] ?? path, { status, headers, text });
        resolve({ status, headers, text, json: text === "" ? undefined : JSON.parse(text) });
      } catch (error) {
        reject(error);
      }
    });
    for (const chunk of parts.chunks ?? []) outgoing.write(chunk);
    outgoing.end();
  });
}
