import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { request } from "./request.ts";

async function refusalOf(answer: RequestListener): Promise<unknown> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const refusal = await request(`http://127.0.0.1:${port}/`).catch((error: unknown) => error);
  server.close();
  return refusal;
}

it("says of an answer that breaks off that the gateway cannot be reached", async () => {
  const refusal = await refusalOf((_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write('{"data":', () => response.destroy());
  });
  expect(refusal).toMatchObject({ status: 0, message: expect.stringMatching(/^The gateway cannot be reached/) });
});
