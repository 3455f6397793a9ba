import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { chatCompletions } from "./chat-completions.ts";
import { type Echo, type EchoDialect, isObject, type RequestObject, type StreamEvent } from "./dialect.ts";
import { messages } from "./messages.ts";
import { requestText } from "./request-text.ts";
import { responses } from "./responses.ts";
import { messagesCount, responsesCount } from "./token-counts.ts";

const bodyBytesMax = 32 * 1024 * 1024;
const modelPrefix = "echo/";
/** The model that streams at reading speed, for watching a stream or interrupting one. */
const slowModel = "echo/slow";
const slowPauseMs = 100;

const dialects: Readonly<Record<string, EchoDialect>> = {
  "/v1/chat/completions": chatCompletions,
  "/v1/messages": messages,
  "/v1/messages/count_tokens": messagesCount,
  "/v1/responses": responses,
  "/v1/responses/input_tokens": responsesCount,
};

/** Why a request cannot be answered. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** An upstream without a model: each answer describes the request. Not listening yet. */
export function createEchoServer(): Server {
  return createServer((request, response) => {
    // A client that has disconnected needs no answer.
    response.on("error", () => {});
    const path = request.url?.split("?", 1)[0] ?? "";
    const dialect = Object.hasOwn(dialects, path) ? dialects[path] : undefined;
    if (dialect && request.method === "POST") void answer(dialect, request, response);
    else if (path === "/healthz" || path === "/readyz") response.end("ok");
    else sendJson(response, 404, chatCompletions.refusal(404, `There is no ${request.method} ${path} here.`));
  });
}

async function answer(dialect: EchoDialect, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const bytes = await readBody(request);
    const body = parseBody(bytes);
    const model = modelOf(body);
    const fault = dialect.lookForFault(body);
    if (fault) throw new Refusal(400, fault);
    const echo: Echo = {
      id: randomUUID().replaceAll("-", ""),
      model,
      words: requestText(dialect, body).match(/\S+\s*|\s+/g) ?? [],
      createdAt: Math.floor(Date.now() / 1000),
      // Roughly the size of a token.
      inputTokens: Math.ceil(bytes.length / 4),
    };
    if (body.stream === true) await stream(dialect.events(echo, body), model === slowModel ? slowPauseMs : 0, response);
    else sendJson(response, 200, dialect.whole(echo, body));
  } catch (error) {
    if (request.errored || response.destroyed) return;
    if (response.headersSent) response.destroy();
    else if (error instanceof Refusal) sendJson(response, error.status, dialect.refusal(error.status, error.message));
    else sendJson(response, 500, dialect.refusal(500, "The request could not be echoed."));
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    // The rest is discarded as it arrives: if the sender were cut off, it would not read the error.
    if (bytes <= bodyBytesMax) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (bytes > bodyBytesMax) throw new Refusal(413, `The body is larger than ${bodyBytesMax} bytes.`);
  return Buffer.concat(chunks);
}

function parseBody(bytes: Buffer): RequestObject {
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString());
  } catch {
    throw new Refusal(400, "The body is not JSON.");
  }
  if (!isObject(body)) throw new Refusal(400, "The body must be a JSON object.");
  return body;
}

function modelOf({ model }: RequestObject): string {
  if (typeof model !== "string" || model === "") throw new Refusal(400, "model must be a text");
  if (model.startsWith(modelPrefix)) return model;
  throw new Refusal(404, `There is no model ${JSON.stringify(model.slice(0, 100))} here, only ${modelPrefix}…`);
}

/** Sends events as fast as they are read, and stops if the reader has disconnected. */
async function stream(events: Iterable<StreamEvent>, pauseMs: number, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  for (const { name, data } of events) {
    gone.signal.throwIfAborted();
    const text = typeof data === "string" ? data : JSON.stringify(data);
    const isRoomLeft = response.write(`${name ? `event: ${name}\n` : ""}data: ${text}\n\n`);
    if (!isRoomLeft) await once(response, "drain", { signal: gone.signal });
    if (pauseMs > 0) await delay(pauseMs, undefined, { signal: gone.signal });
  }
  response.end();
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
