import { once } from "node:events";
import * as http2 from "node:http2";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { ClientConnection } from "./client-connection.ts";
import { encodeHeaders } from "./header-encoder.ts";
import { errorCodes, frameBytesMax } from "./protocol.ts";
import { ServerConnection } from "./server-connection.ts";
import type { Http2Stream } from "./stream.ts";

// Each side is tested with Node's own implementation as its peer.

const closing: (() => void)[] = [];

afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
});

const answerHead = encodeHeaders([":status", "200"]);
const end = encodeHeaders(["x-end", "1"]);

type Answer = (stream: Http2Stream, body: Buffer) => void;

const echo: Answer = (stream, body) => {
  stream.headers(answerHead);
  stream.data(body);
  stream.end(end);
};

async function portOf(server: Server | http2.Http2Server): Promise<number> {
  closing.push(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

async function openServer(answer: Answer = echo): Promise<{ port: number; connections: ServerConnection[] }> {
  const connections: ServerConnection[] = [];
  const server = createServer((socket) => {
    const onRequest = (stream: Http2Stream) => {
      const parts: Buffer[] = [];
      stream.listener = {
        onHeaders() {},
        onData: (bytes) => parts.push(bytes),
        onEnd: () => answer(stream, Buffer.concat(parts)),
        onClose() {},
      };
    };
    const connection = new ServerConnection(socket, { onRequest, onClose() {} });
    connections.push(connection);
    closing.push(() => connection.destroy());
  });
  return { port: await portOf(server), connections };
}

function openNodeClient(port: number, settings: http2.Settings = {}): http2.ClientHttp2Session {
  const session = http2.connect(`http://127.0.0.1:${port}`, { settings });
  session.on("error", () => {});
  closing.push(() => session.destroy());
  return session;
}

async function post(session: http2.ClientHttp2Session, body: Buffer): Promise<{ body: Buffer; trailer: unknown }> {
  const stream = session.request({ ":method": "POST", ":path": "/", "x-long": "x".repeat(20_000) });
  let trailer: unknown;
  stream.on("trailers", (trailers) => {
    trailer = trailers["x-end"];
  });
  stream.end(body);
  const parts = await stream.toArray();
  return { body: Buffer.concat(parts), trailer };
}

const sizes = [0, 1, 16_383, 16_384, 16_385, 65_535, 65_536, 1_000_000, 4_000_000];

function bytesOf(length: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, index) => (index * 31) % 251));
}

/** Headers that are encoded as so many bytes. */
function headersOf(bytes: number): Buffer {
  const withValue = (length: number) => encodeHeaders([":status", "200", "x-long", "x".repeat(length)]);
  return withValue(2 * bytes - withValue(bytes).length);
}

describe("our server and Node's client", () => {
  it.each([65_535, 1_000, 1, 2 ** 31 - 1])("exchange messages of any length through a window of %i", async (window) => {
    const session = openNodeClient((await openServer()).port, { initialWindowSize: window });
    for (const size of window === 1 ? sizes.slice(0, 2) : sizes) {
      const sent = bytesOf(size);
      const { body, trailer } = await post(session, sent);
      expect(body.equals(sent)).toBe(true);
      expect(trailer).toBe("1");
    }
  });

  it("understand each other's headers if the client has no header table", async () => {
    const session = openNodeClient((await openServer()).port, { headerTableSize: 0 });
    await once(session, "localSettings");
    expect((await post(session, bytesOf(10))).trailer).toBe("1");
  });

  it.each([-1, 0, 1].flatMap((more) => [frameBytesMax + more, 2 * frameBytesMax + more]))(
    "understand each other's headers if they take %i bytes",
    async (bytes) => {
      const { port } = await openServer((stream) => stream.headers(headersOf(bytes), true));
      const session = openNodeClient(port);
      // Only the first headers on a connection say that there is no table.
      for (let count = 0; count < 2; count += 1) {
        const stream = session.request({ ":method": "POST", ":path": "/" });
        const [answer] = await once(stream.end(), "response");
        expect(answer["x-long"]).toMatch(/^x+$/);
      }
    },
  );

  it("exchange many messages at once, without large ones delaying small ones", async () => {
    const session = openNodeClient((await openServer()).port);
    const large = bytesOf(2_000_000);
    const order: string[] = [];
    const larges = [1, 2, 3].map(async () => {
      expect((await post(session, large)).body.equals(large)).toBe(true);
      order.push("large");
    });
    const smalls = Array.from({ length: 200 }, async (_, index) => {
      expect((await post(session, bytesOf(index))).body).toHaveLength(index);
      order.push("small");
    });
    await Promise.all([...larges, ...smalls]);
    expect(order.at(-1)).toBe("large");
  });

  it("buffer unread data in its stream, and continue when it is read", async () => {
    const large = bytesOf(3_000_000);
    let answered: Http2Stream | undefined;
    const { port } = await openServer((stream) => {
      answered = stream;
      echo(stream, large);
    });
    const session = openNodeClient(port);
    const stream = session.request({ ":method": "POST", ":path": "/" });
    stream.end();
    stream.pause();
    await expect.poll(() => answered?.writableLength).toBeGreaterThan(2_500_000);
    expect(Buffer.concat(await stream.toArray()).equals(large)).toBe(true);
    expect(answered?.writableLength).toBe(0);
  });

  it("answer a ping", async () => {
    const { port, connections } = await openServer();
    const session = openNodeClient(port);
    await once(session, "remoteSettings");
    await new Promise<void>((resolve, reject) => {
      session.ping((error) => (error ? reject(error) : resolve()));
    });
    await new Promise<void>((resolve) => connections[0]?.ping(resolve));
  });

  it("reset a request that is longer than announced", async () => {
    const { port } = await openServer();
    const session = openNodeClient(port);
    const stream = session.request({ ":method": "POST", ":path": "/", "content-length": "3" });
    stream.on("error", () => {});
    stream.end("more than that");
    await expect.poll(() => stream.closed).toBe(true);
    expect(stream.rstCode).toBe(errorCodes.protocol);
    expect((await post(session, bytesOf(10))).body).toHaveLength(10);
  });
});

type Serve = (stream: http2.ServerHttp2Stream) => void;

async function openNodeServer(serve: Serve, options: http2.ServerOptions = {}) {
  const server = http2.createServer(options);
  const sessions: http2.ServerHttp2Session[] = [];
  server.on("session", (session) => {
    session.on("error", () => {});
    sessions.push(session);
  });
  server.on("stream", (stream: http2.ServerHttp2Stream) => {
    stream.on("error", () => {});
    serve(stream);
  });
  const port = await portOf(server);
  closing.push(() => {
    for (const session of sessions) session.destroy();
  });
  return { port, sessions };
}

function openClient(port: number): { connection: ClientConnection; socket: Socket } {
  const socket = connect(port, "127.0.0.1");
  const connection = new ClientConnection(socket, { onReady() {}, onGoaway() {}, onClose() {} });
  closing.push(() => connection.destroy());
  return { connection, socket };
}

const requestHead = encodeHeaders([":method", "POST", ":scheme", "http", ":path", "/", ":authority", "a"]);

/** The bytes of the answer, or the code that its stream was closed with. */
function ask(connection: ClientConnection, body: Buffer, head = requestHead): Promise<Buffer | number | undefined> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    connection.request(head, body, {
      onHeaders() {},
      onData: (bytes) => parts.push(bytes),
      onEnd: () => resolve(Buffer.concat(parts)),
      onClose: resolve,
    });
  });
}

const echoBack: Serve = (stream) => {
  stream.respond({ ":status": 200 });
  stream.pipe(stream);
};

describe("our client and Node's server", () => {
  it.each([65_535, 1_000, 2 ** 31 - 1])("exchange messages of any length through a window of %i", async (window) => {
    const { port } = await openNodeServer(echoBack, { settings: { initialWindowSize: window } });
    const { connection } = openClient(port);
    for (const size of sizes) {
      const sent = bytesOf(size);
      expect(sent.equals((await ask(connection, sent)) as Buffer)).toBe(true);
    }
  });

  it("understand each other's headers if the server has no header table", async () => {
    const { port } = await openNodeServer(echoBack, { settings: { headerTableSize: 0 } });
    const { connection } = openClient(port);
    expect(await ask(connection, bytesOf(1))).toHaveLength(1);
    expect(await ask(connection, bytesOf(2))).toHaveLength(2);
  });

  it("send headers that need more than one frame", async () => {
    const { port } = await openNodeServer(echoBack, { maxHeaderListPairs: 500 });
    const { connection } = openClient(port);
    const head = Buffer.concat([requestHead, encodeHeaders(["x-long", "x".repeat(40_000)])]);
    expect((await ask(connection, bytesOf(5), head)) as Buffer).toHaveLength(5);
  });

  it("never exceed the server's stream limit, and complete all requests", async () => {
    let underWay = 0;
    let most = 0;
    const { port } = await openNodeServer(
      (stream) => {
        underWay += 1;
        most = Math.max(most, underWay);
        stream.once("close", () => {
          underWay -= 1;
        });
        setTimeout(() => echoBack(stream), 5);
      },
      { settings: { maxConcurrentStreams: 3 } },
    );
    const { connection } = openClient(port);
    await ask(connection, bytesOf(1));
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => ask(connection, bytesOf(index + 1))));
    expect(answers.map((answer) => (answer as Buffer).length)).toEqual(answers.map((_, index) => index + 1));
    expect(most).toBeLessThanOrEqual(3);
  });

  it("know which requests were not processed after GOAWAY", async () => {
    const waiting: http2.ServerHttp2Stream[] = [];
    const { port, sessions } = await openNodeServer((stream) => waiting.push(stream), {
      settings: { maxConcurrentStreams: 2 },
    });
    const { connection } = openClient(port);
    const first = ask(connection, bytesOf(1));
    await expect.poll(() => waiting.length).toBe(1);
    const begun = ask(connection, bytesOf(2));
    await expect.poll(() => waiting.length).toBe(2);
    const notBegun = ask(connection, bytesOf(3));
    sessions[0]?.goaway(0, 3);
    expect(await notBegun).toBe(errorCodes.refusedStream);
    for (const stream of waiting) echoBack(stream);
    expect([await first, await begun].map((answer) => (answer as Buffer).length)).toEqual([1, 2]);
    await expect.poll(() => connection.destroyed).toBe(true);
  });

  it("report requests as unknown when their connection is lost", async () => {
    const { port, sessions } = await openNodeServer(() => sessions[0]?.destroy());
    const { connection } = openClient(port);
    expect(await ask(connection, bytesOf(1))).toBeUndefined();
    expect(connection.isClosing).toBe(true);
  });

  it("close once everything is answered", async () => {
    const { port } = await openNodeServer((stream) => setTimeout(() => echoBack(stream), 50));
    const { connection } = openClient(port);
    const answer = ask(connection, bytesOf(7));
    connection.close();
    expect((await answer) as Buffer).toHaveLength(7);
    await expect.poll(() => connection.destroyed).toBe(true);
  });
});
