import { createServer, type Socket } from "node:net";
import { gapMs, heldGapMs, heldMark } from "./requests.ts";

// What stands behind every gateway: it answers at once, and knows only as much of HTTP as they need, so that it leaves the
// processors to them. A request with `stream: true` gets as many events as `max_tokens` says, each on its own.

const headEndMark = "\r\n\r\n";
const streamHead =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";
const common = { id: "chatcmpl-bench", created: 1_750_000_000, model: "gpt-4.1-mini", system_fingerprint: null };
const sentence = "Your order left our warehouse this morning and is on its way; you can still change the address. ";
const event = framed(
  `data: ${JSON.stringify({
    ...common,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: { content: " and" }, finish_reason: null }],
  })}\n\n`,
);

/** The bytes of the request tell the caller what has come through. */
function usage(bytes: number) {
  return { prompt_tokens: bytes, completion_tokens: 50, total_tokens: bytes + 50 };
}

function wholeAnswer(bytes: number): string {
  const message = { role: "assistant", content: sentence.repeat(4).trim() };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: "stop" }];
  const body = JSON.stringify({ ...common, object: "chat.completion", choices, usage: usage(bytes) });
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

function lastEvent(bytes: number): string {
  const chunk = { ...common, object: "chat.completion.chunk", choices: [], usage: usage(bytes) };
  return `${framed(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)}0\r\n\r\n`;
}

function framed(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

function answer(socket: Socket, body: string): void {
  if (!body.includes('"stream":true')) {
    socket.write(wholeAnswer(body.length), "latin1");
    return;
  }
  let left = Number(/"max_tokens":(\d+)/.exec(body)?.[1] ?? 1);
  const pauseMs = body.includes(heldMark) ? heldGapMs : gapMs;
  let head = streamHead;
  const next = (): void => {
    if (socket.destroyed) return;
    left -= 1;
    socket.write(head + (left > 0 ? event : lastEvent(body.length)), "latin1");
    head = "";
    if (left > 0) setTimeout(next, pauseMs);
  };
  next();
}

function serve(socket: Socket): void {
  let received: Buffer | undefined;
  socket.setNoDelay();
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    const bytes = received ? Buffer.concat([received, chunk]) : chunk;
    received = bytes;
    const headEnd = bytes.indexOf(headEndMark);
    if (headEnd < 0) return;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(bytes.toString("latin1", 0, headEnd))?.[1] ?? 0);
    const bodyAt = headEnd + headEndMark.length;
    if (bytes.length < bodyAt + length) return;
    received = undefined;
    answer(socket, bytes.toString("latin1", bodyAt, bodyAt + length));
  });
}

createServer(serve).listen({ port: Number(process.env.PORT), host: "127.0.0.1", backlog: 4_096 });
process.on("SIGTERM", () => process.exit());
