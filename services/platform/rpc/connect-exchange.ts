import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { ContextValues } from "@connectrpc/connect";
import type { UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";

// The package connect-node has this, too, but loads all of Node's HTTP/2 and `fetch` for its clients: a tenth of what a
// start takes, and up to 8 MiB.

/** A request as Connect's handlers take it. It counts as canceled once nobody waits for the answer. */
export function requestFrom(
  request: IncomingMessage,
  response: ServerResponse,
  contextValues: ContextValues,
): UniversalServerRequest {
  const canceling = new AbortController();
  response.once("close", () => canceling.abort());
  return {
    httpVersion: request.httpVersion,
    method: request.method ?? "",
    // Only the path and the query are read; a URL has to have a host.
    url: new URL(`http://localhost${request.url}`).href,
    header: headersFrom(request),
    body: request,
    signal: canceling.signal,
    contextValues,
  };
}

function headersFrom({ headers }: IncomingMessage): Headers {
  const entries = Object.entries(headers).flatMap(([name, value = []]) =>
    [value].flat().map((each): [string, string] => [name, each]),
  );
  return new Headers(entries);
}

/** Fails if the answer cannot be sent completely. */
export async function sendAnswer(answer: UniversalServerResponse, response: ServerResponse): Promise<void> {
  await pipeline(chunksAfterHead(answer, response), response);
}

async function* chunksAfterHead({ status, header, body, trailer }: UniversalServerResponse, response: ServerResponse) {
  const sendHead = () => {
    if (header) response.setHeaders(header);
    response.writeHead(status);
  };
  for await (const chunk of body ?? []) {
    // Not before: until its first message, whoever answers may set headers.
    if (!response.headersSent) sendHead();
    yield chunk;
  }
  if (!response.headersSent) sendHead();
  if (trailer) response.addTrailers([...trailer]);
}
