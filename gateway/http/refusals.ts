import type { OutgoingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply } from "fastify";
import { DomainError } from "../../services/platform/domain/domain-error.ts";
import { newId } from "../../services/platform/domain/ids.ts";
import { STATUS_CODES } from "../../services/platform/http/node-http.ts";
import { notTaken } from "../../services/platform/http/waiting-requests.ts";
import { errorAnswer } from "../json/errors.ts";
import { HttpError } from "../json/http-error.ts";
import type { AccessLog } from "./access-log.ts";
import { dropBody } from "./drop-body.ts";
import { tunnel } from "./edge-server.ts";
import { errorShapeOf } from "./error-shape.ts";
import type { Exchanges } from "./exchanges.ts";

/**
 * How long a connection stays open after bytes on it were refused, so that a client that is still sending can read why.
 */
const readMs = 1_000;

/** Answers where Fastify cannot: requests whose body is incomplete, and bytes that are not a request. */
export class Refusals {
  readonly #exchanges: Exchanges;
  readonly #accessLog: AccessLog;
  readonly #lingerMs: number;
  /** Connections on which the bytes after the last request are refused, or dropped, once that is answered. */
  readonly #refusedAfterwards = new WeakSet<Socket>();

  constructor(exchanges: Exchanges, accessLog: AccessLog, lingerMs: number) {
    this.#exchanges = exchanges;
    this.#accessLog = accessLog;
    this.#lingerMs = lingerMs;
  }

  /** Sends the answer at once, and then receives the rest of the body. */
  refuse(reply: FastifyReply, error: unknown): void {
    const { raw: request, id } = reply.request;
    const { status, headers, body } = errorAnswer(error, id, errorShapeOf(reply.request));
    const response = reply.hijack().raw;
    response.writeHead(status, {
      ...(reply.getHeaders() as OutgoingHttpHeaders),
      ...headers,
      "x-request-id": id,
      "content-type": "application/json; charset=utf-8",
      "content-length": Buffer.byteLength(body),
    });
    if (request.complete) {
      response.end(body);
      return;
    }
    response.write(body);
    this.#exchanges.settle(reply, status);
    dropBody(request, this.#lingerMs, (isWhole) => {
      // Only then: answers to earlier requests may still be on their way.
      if (!isWhole) response.once("finish", () => request.socket.destroySoon());
      response.end();
    });
  }

  /**
   * Answers what Node reports about a connection: that it broke, that its bytes are not HTTP, or that they come too
   * slowly.
   */
  answerClientError(error: Error & { code?: string }, socket: Socket): void {
    const latest = this.#exchanges.latest(socket)?.reply;
    // Node reports every byte after the first bad one.
    if (socket.destroyed || socket.writableEnded || this.#refusedAfterwards.has(socket)) return;
    if (error.code === notTaken) {
      this.#refusedAfterwards.add(socket);
      closeAfter(latest, socket);
    } else if (error.code === "ECONNRESET" || socket.bytesRead === 0) {
      socket.destroy();
    } else if (!latest) {
      this.#refuseBytes(socket, error.code);
    } else if (latest.request.raw.complete) {
      // It must not be taken for the answer to the previous request, which is still being processed.
      this.#refusedAfterwards.add(socket);
      latest.raw.once("close", () => this.#refuseBytes(socket, error.code));
    } else if (!latest.raw.headersSent) {
      latest.header("connection", "close");
      this.refuse(latest, clientError(error.code));
    }
  }

  #refuseBytes(socket: Socket, code: string | undefined): void {
    if (!socket.writable) return;
    const requestId = newId();
    const { status, body } = errorAnswer(clientError(code), requestId);
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      "content-type: application/json; charset=utf-8",
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      "connection: close",
    ];
    socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
    this.#accessLog.record({ status, ms: 0, requestId });
    // A client that does not close its side would otherwise keep the connection open.
    const linger = setTimeout(() => socket.destroy(), readMs);
    socket.once("close", () => clearTimeout(linger));
  }
}

/** What was sent behind the latest request is dropped. */
function closeAfter(latest: FastifyReply | undefined, socket: Socket): void {
  if (!latest) {
    socket.destroySoon();
    return;
  }
  if (!latest.raw.headersSent) latest.header("connection", "close");
  latest.raw.once("close", () => socket.destroySoon());
}

function clientError(code: string | undefined): HttpError | DomainError {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return new HttpError(431, "The headers are too large. Send fewer or shorter ones.");
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return new HttpError(413, "The chunk extensions of the body are too large. Send none.");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new HttpError(408, "The request took too long to arrive. Send it again.");
    case "HPE_INVALID_EOF_STATE":
      return invalidHttp("The request ends too early.", "ends before the end that it announces");
    case tunnel:
      return invalidHttp(
        "This server is not a proxy and opens no tunnels. Send requests to the server itself.",
        "asks for a tunnel",
      );
    default:
      return invalidHttp("This is not a valid HTTP request.", "is not valid HTTP");
  }
}

function invalidHttp(message: string, violation: string): DomainError {
  const violations = [{ path: "", message: violation }];
  return new DomainError("invalid_argument", { reason: "INVALID_REQUEST", message, violations });
}
