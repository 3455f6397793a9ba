import { create, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Health } from "../../proto/gen/grpc/health/v1/health_pb.ts";
import { grpcPathOf } from "../../services/platform/rpc/grpc-messages.ts";
import { smallRequestBytesMax } from "../../services/platform/rpc/message-sizes.ts";
import { RawConnection } from "../support/raw-connection.ts";
import { openStubService, type StubService } from "../support/stub-service.ts";

let service: StubService;

beforeAll(async () => {
  service = await openStubService();
});

afterAll(() => service.close());

describe("an unauthenticated caller", () => {
  const creationPath = "/setpoint.preset.v1.PresetService/CreateVersion";

  it.each([
    ["application/json", "HTTP/1.1 401"],
    ["application/proto", "HTTP/1.1 401"],
    ["application/grpc-web+proto", "grpc-status: 16"],
    ["application/grpc-web+json", "grpc-status: 16"],
    ["application/grpc+proto", "grpc-status: 16"],
  ])("is rejected before any of its %s body is read", async (type, expected) => {
    const connection = await RawConnection.open(`http://127.0.0.1:${service.httpPort}`);
    const before = service.lines.length;
    // The body never arrives, so a service that waits for it does not answer.
    connection.send(
      `POST ${creationPath} HTTP/1.1\r\nhost: a\r\ncontent-type: ${type}\r\ncontent-length: 1000000\r\n\r\n`,
    );
    await expect.poll(() => connection.received.replaceAll(/\s+/g, " ")).toContain(expected);
    connection.hangUp();
    expect(service.lines.slice(before).map((line) => JSON.parse(line))).toMatchObject([{ code: "UNAUTHENTICATED" }]);
  });

  it("that keeps sending is answered on the same connection", async () => {
    const connection = await RawConnection.open(`http://127.0.0.1:${service.httpPort}`);
    const head = `POST ${creationPath} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n`;
    const body = "x".repeat(100_000);
    connection.send(`${head}content-length: ${body.length}\r\n\r\n${body}`);
    connection.send(`${head}authorization: Bearer ${service.token}\r\ncontent-length: 2\r\n\r\n{}`);
    await expect.poll(() => connection.statuses).toEqual([401, 200]);
    connection.hangUp();
  });

  it("who sends hundreds of calls at once is not answered all at once, so that others do not wait for all of them", async () => {
    const connection = await RawConnection.open(`http://127.0.0.1:${service.httpPort}`);
    const call = `POST ${creationPath} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`;
    const count = 400;
    connection.send(call.repeat(count));
    expect(await connection.largestShareInOneTurn(count)).toBeLessThan(0.2);
    connection.hangUp();
  });
});

describe("calls in a row on one connection", () => {
  const path = "/setpoint.preset.v1.PresetService/GetPreset";

  it("are answered in their order, also if the body of the last one comes late", async () => {
    const connection = await RawConnection.open(`http://127.0.0.1:${service.httpPort}`);
    const head = (token: string) =>
      `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\nauthorization: Bearer ${token}\r\n`;
    const call = (token: string) => `${head(token)}content-length: 2\r\n\r\n{}`;
    connection.send(call(service.token) + call("none") + call(service.token));
    connection.send(`${head(service.token)}content-length: 6\r\n\r\n{`);
    await expect.poll(() => connection.statuses).toEqual([200, 401, 200]);
    connection.send("    }");
    connection.send("GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n");
    await expect.poll(() => connection.statuses).toEqual([200, 401, 200, 200, 200]);
    connection.hangUp();
  });
});

describe("a public service", () => {
  const { check } = Health.method;
  /** A message of this many bytes. */
  const message = (bytes: number) =>
    Buffer.from(toBinary(check.input, create(check.input, { service: "x".repeat(bytes - 4) })));

  it.each([
    [smallRequestBytesMax, "not_found"],
    [smallRequestBytesMax + 1, "resource_exhausted"],
  ])("answers a message of %d bytes with %s", async (bytes, code) => {
    const response = await fetch(`http://127.0.0.1:${service.httpPort}${grpcPathOf(check)}`, {
      method: "POST",
      headers: { "content-type": "application/proto" },
      body: new Uint8Array(message(bytes)),
    });
    expect(await response.json()).toMatchObject({ code });

    const client = new Client(`127.0.0.1:${service.grpcPort}`, credentials.createInsecure());
    const asIs = (sent: Buffer) => sent;
    const failed = new Promise<ServiceError | null>((resolve) => {
      client.makeUnaryRequest(grpcPathOf(check), asIs, asIs, message(bytes), new Metadata(), resolve);
    });
    expect((await failed)?.code).toBe(code === "not_found" ? 5 : 8);
    client.close();
  });
});
