import { connect, createServer, type Socket } from "node:net";
import { nextPort } from "./ports.ts";

/**
 * The point at which a fault strikes. `query` is any text statement, `read` is one that reads a table, `commit` is the
 * COMMIT statement.
 */
export type Phase = "connect" | "handshake" | "session" | "query" | "read" | "prepare" | "execute" | "commit";

/**
 * `silence`: nothing arrives or comes back any more, without any sign. `deaf`: requests arrive, but nothing comes back.
 * `hold`: the packet arrives when `letGo` is called, even if the client has given up by then. `reset`: the connection
 * is cut before the server receives the packet. `lost answer`: it is cut after the server has done its work. `untold
 * abort`: the transaction is rolled back first, and nobody is told. A number: the answer is that error, and nothing is
 * done; with `isDone`, it is done nevertheless; with `message`, the error has that message.
 */
export type Fault =
  | "silence"
  | "deaf"
  | "hold"
  | "reset"
  | "lost answer"
  | "untold abort"
  | number
  | { readonly errno: number; readonly isDone: true }
  | { readonly errno: number; readonly message: string };

/** Stands between a pool and the real database, and behaves like a bad network or a failing server. */
export interface DatabaseProxy {
  /** The URL of the database through this proxy. */
  readonly url: string;
  /** How many connections are open right now. */
  readonly connections: number;
  /** How many of those have fallen silent: only the other side can close them. */
  readonly silent: number;
  /** How many connections were accepted so far. */
  readonly accepted: number;
  /** How many commands were sent so far; the client waits for each. Pings, which are sent on a timer, do not count. */
  readonly commands: number;
  /** From now on the phase fails, this many times, on whichever connection reaches it. */
  fail(phase: Phase, fault: Fault, times?: number): void;
  /** How many packets are held. */
  readonly held: number;
  /** Sends the held packets on to the server. */
  letGo(): void;
  /** Accepts no more connections, as if nothing were listening, and cuts those that are open. */
  refuse(): Promise<void>;
  /** The database is back. Connections that have fallen silent stay silent. */
  heal(): Promise<void>;
  close(): Promise<void>;
}

export async function openDatabaseProxy(
  databaseUrl: string,
  { hidesTls = false, isGalera = false }: { readonly hidesTls?: boolean; readonly isGalera?: boolean } = {},
): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const socketPath = target.searchParams.get("socketPath");
  const connectServer = () =>
    socketPath ? connect(socketPath) : connect(Number(target.port || 3306), target.hostname);
  const clients = new Set<Socket>();
  const silent = new Set<Socket>();
  /** To be cut when the server answers. */
  const doomed = new Set<Socket>();
  const faults = new Map<Phase, { fault: Fault; times: number }>();
  const held: (() => void)[] = [];
  let accepted = 0;
  let commands = 0;

  const faultAt = (phase: Phase): Fault | undefined => {
    const found = faults.get(phase);
    if (!found) return undefined;
    found.times -= 1;
    if (found.times <= 0) faults.delete(phase);
    return found.fault;
  };

  const server = createServer((client) => {
    accepted += 1;
    clients.add(client);
    client.on("error", () => {});
    client.on("close", () => {
      clients.delete(client);
      silent.delete(client);
      doomed.delete(client);
    });
    let isHeld = false;
    /** Sent to the client in place of the server's next answer. */
    let instead: Buffer | undefined;
    /** How many of the server's next answers belong to commands that the client did not send. */
    let unasked = 0;
    /** The bytes that the client sends before the text of a statement. */
    let beforeText: Buffer = Buffer.alloc(0);
    /** Returns true if the packet must not be passed on to the server. */
    const strike = (fault: Fault | undefined, packet?: Buffer): boolean => {
      if (fault === "silence" || fault === "deaf" || fault === "hold") silent.add(client);
      if (fault === "lost answer") doomed.add(client);
      if (fault === "lost answer" || fault === "deaf") return false;
      if (fault === "untold abort") {
        unasked += 1;
        upstream.write(queryPacket("ROLLBACK", beforeText));
        return false;
      }
      if (typeof fault === "object" && "isDone" in fault) {
        instead = errorPacket(fault.errno, packet);
        return false;
      }
      if (fault === "hold") {
        isHeld = true;
        held.push(() => upstream.end(packet ?? ""));
      } else if (fault === "reset") client.resetAndDestroy();
      else if (typeof fault === "number") client.write(errorPacket(fault, packet));
      else if (typeof fault === "object") client.write(errorPacket(fault.errno, packet, fault.message));
      return fault !== undefined;
    };
    const upstream = connectServer();
    if (strike(faultAt("connect"))) {
      upstream.destroy();
      client.resume();
      return;
    }
    upstream.on("error", () => client.destroy());
    upstream.on("close", () => silent.has(client) || client.destroy());
    client.on("close", () => isHeld || upstream.destroy());
    if (hidesTls) upstream.once("data", hideTls);
    upstream.on("data", (received: Buffer) => {
      let data = received;
      for (; unasked > 0 && data.length > 0; unasked -= 1) data = data.subarray(4 + data.readUIntLE(0, 3));
      if (data.length === 0) return;
      if (doomed.has(client)) client.resetAndDestroy();
      else if (!silent.has(client)) client.write(instead ?? data);
      instead = undefined;
    });
    forEachPacket(client, (packet) => {
      if (packet[3] === 0 && packet[4] !== pingCommand) commands += 1;
      if (isQuery(packet)) beforeText = packet.subarray(5, beginOfText(packet));
      if (silent.has(client) || phasesOf(packet).some((phase) => strike(faultAt(phase), packet))) return;
      upstream.write(packet.includes("@@wsrep_on") ? queryPacket(whetherNode(isGalera), beforeText) : packet);
    });
  });

  const listen = (port: number) =>
    new Promise<void>((resolve) => {
      server.listen(port, "127.0.0.1", resolve);
    });
  const port = await nextPort();
  await listen(port);
  const refuse = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const client of clients) client.resetAndDestroy();
    await closed;
  };
  const url = new URL(databaseUrl);
  url.searchParams.delete("socketPath");
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    get connections() {
      return clients.size;
    },
    get silent() {
      return silent.size;
    },
    get accepted() {
      return accepted;
    },
    get commands() {
      return commands;
    },
    get held() {
      return held.length;
    },
    letGo: () => {
      for (const each of held.splice(0)) each();
    },
    fail: (phase, fault, times = Number.POSITIVE_INFINITY) => void faults.set(phase, { fault, times }),
    refuse,
    heal: async () => {
      faults.clear();
      if (!server.listening) await listen(port);
    },
    close: async () => {
      if (server.listening) await refuse();
    },
  };
}

const pingCommand = 0x0e;
/** Any server answers this as a Galera node, or another server of MariaDB, answers whether it is a node. */
const whetherNode = (isNode: boolean) => `SELECT ${Number(isNode)} AS isNode`;

function queryPacket(sql: string, beforeText: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from([0x03]), beforeText, Buffer.from(sql)]);
  const header = Buffer.alloc(4);
  header.writeUIntLE(content.length, 0, 3);
  return Buffer.concat([header, content]);
}

/** Changes a server's greeting as if it did not support TLS. */
function hideTls(greeting: Buffer): void {
  // After the packet header, the protocol version, the server version as a zero-terminated text, the thread id, and a
  // salt.
  const capabilities = greeting.indexOf(0, 5) + 1 + 4 + 8 + 1;
  greeting.writeUInt16LE(greeting.readUInt16LE(capabilities) & ~0x0800, capabilities);
}

/** Calls back for each whole packet of the protocol: three bytes of length, one of sequence, then the content. */
function forEachPacket(socket: Socket, onPacket: (packet: Buffer) => void): void {
  let rest = Buffer.alloc(0);
  socket.on("data", (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readUIntLE(0, 3)) {
      const end = 4 + rest.readUIntLE(0, 3);
      onPacket(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  });
}

function isQuery(packet: Buffer): boolean {
  return packet[3] === 0 && packet[4] === 0x03;
}

/** Newer servers and clients put the number of query attributes before the statement: none. */
function beginOfText(query: Buffer): number {
  return query[5] === 0 ? 7 : 5;
}

/** The phases that a packet of a client begins. A command has sequence 0; packets before the first one do not. */
function phasesOf(packet: Buffer): Phase[] {
  if (packet[3] !== 0) return ["handshake"];
  switch (packet[4]) {
    case 0x03: {
      const sql = packet.toString("utf8", beginOfText(packet));
      if (/^SET (SESSION|NAMES)|^SELECT @@wsrep_on/.test(sql)) return ["session"];
      if (/^SELECT .* FROM /s.test(sql)) return ["read", "query"];
      return sql === "COMMIT" ? ["commit", "query"] : ["query"];
    }
    case 0x16:
      return ["prepare"];
    case 0x17:
      return ["execute"];
    default:
      return [];
  }
}

/** An error in response to a packet, or to a new connection. */
function errorPacket(errno: number, packet: Buffer | undefined, message = "injected"): Buffer {
  const content = Buffer.concat([Buffer.from([0xff, errno & 0xff, errno >> 8]), Buffer.from(`#HY000${message}`)]);
  const header = Buffer.alloc(4);
  header.writeUIntLE(content.length, 0, 3);
  header[3] = packet ? (packet[3] ?? 0) + 1 : 0;
  return Buffer.concat([header, content]);
}
