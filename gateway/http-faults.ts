import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { newId } from "../services/platform/domain/ids.ts";
import { errorAnswer, HttpError } from "./json/errors.ts";

// What goes wrong below the routes: with connections, and with bytes that are no request.

/** A caller that has sent nothing for this long waits for our answer. */
const silenceMs = 250;

/**
 * Receives what is left of a body, and drops it: a caller who sends everything before they read would otherwise see
 * their connection reset. Returns at the end of the body, or as soon as nothing more comes.
 */
export function dropBody(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const silence = setTimeout(resolve, silenceMs);
    request.on("data", () => silence.refresh());
    for (const end of ["end", "close", "error"]) {
      request.once(end, () => {
        clearTimeout(silence);
        resolve();
      });
    }
    request.resume();
  });
}

/** Bytes that are no HTTP request at all never reach a route. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  // Node keeps the answer that is being made on the socket. It is not to be taken for the answer to what came after.
  const { _httpMessage: current } = socket as Socket & { _httpMessage?: ServerResponse };
  if (current && socket.writable) {
    current.once("close", () => socket.destroy());
  } else if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
  } else {
    socket.end(rawAnswer(clientError(error.code)));
  }
}

/** `Expect` knows only `100-continue`, which Node answers itself. */
export function answerExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const requestId = newId();
  const { status, body } = errorAnswer(new HttpError(417, "Send no Expect header but `100-continue`."), requestId);
  const length = Buffer.byteLength(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": length,
    "x-request-id": requestId,
  });
  response.end(body);
}

function clientError(code: string | undefined): HttpError {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return new HttpError(431, "The headers are too large. Send fewer or shorter ones.");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new HttpError(408, "The request took too long to arrive. Send it again.");
    default:
      return new HttpError(400, "This is not a valid HTTP request.");
  }
}

/** An error as it goes over the wire, where there is no request that Node could answer. */
function rawAnswer(error: HttpError): string {
  const requestId = newId();
  const { status, body } = errorAnswer(error, requestId);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    "connection: close",
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}
