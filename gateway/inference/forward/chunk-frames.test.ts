import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { writeChunk } from "./chunk-frames.ts";

/** What a client reads of an answer. */
async function answerOf(write: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(200).flushHeaders();
    write(response);
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return await answer.text();
  } finally {
    server.close();
  }
}

it("writes the same body as the response would", async () => {
  const lengths = [1, 15, 16, 255, 256, 4_095, 4_096, 16 * 1024, 16 * 1024 + 1, 100_000];
  const pieces = lengths.map((length, index) => String.fromCharCode(97 + index).repeat(length));
  const answer = await answerOf((response) => {
    for (const piece of ["", ...pieces]) writeChunk(response, Buffer.from(piece));
  });
  expect(answer).toBe(pieces.join(""));
});

it("writes after what the response has buffered", async () => {
  const answer = await answerOf((response) => {
    response.cork();
    response.write("first ");
    writeChunk(response, Buffer.from("second "));
    response.uncork();
    writeChunk(response, Buffer.from("third"));
  });
  expect(answer).toBe("first second third");
});
