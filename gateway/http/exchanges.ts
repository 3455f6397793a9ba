import type { Socket } from "node:net";
import type { FastifyReply } from "fastify";
import { monotonicMs } from "../../services/platform/process/clock.ts";
import type { AccessLog } from "./access-log.ts";

/** A request that has arrived, at least its headers, and is not answered to its end. */
export interface Exchange {
  readonly reply: FastifyReply;
  readonly startedAtMs: number;
  isRecorded: boolean;
}

interface Connection {
  /** In the order of arrival, which is that of the answers: more than one where requests are pipelined. */
  readonly open: Exchange[];
  isPaused: boolean;
}

/** Of a connection with as many requests in flight no more are read. Node itself has no bound. */
const pipelinedMax = 64;

/** No answer: the caller had gone, or was not waited for any longer. */
const clientClosedRequest = 499;

/** What is in flight on which connection. Every exchange is recorded once, however it ends. */
export class Exchanges {
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #accessLog: AccessLog;

  constructor(accessLog: AccessLog) {
    this.#accessLog = accessLog;
  }

  begin(reply: FastifyReply): void {
    const { socket } = reply.request.raw;
    const connection = this.#connections.get(socket) ?? this.#connect(socket);
    const { open } = connection;
    const exchange = { reply, startedAtMs: monotonicMs(), isRecorded: false };
    open.push(exchange);
    if (open.length > pipelinedMax) {
      connection.isPaused = true;
      socket.pause();
    }
    // An answer that is made after its connection broke has nobody else to complain to.
    reply.raw.on("error", () => {});
    reply.raw.once("finish", () => {
      // Node says so of an answer that it could not send, too; the close tells of that one.
      if (socket.destroyed) return;
      open.splice(open.indexOf(exchange), 1);
      this.#record(exchange, reply.raw.statusCode);
      if (connection.isPaused && open.length < pipelinedMax) {
        connection.isPaused = false;
        socket.resume();
      }
    });
  }

  /** The youngest on a connection. All others there have been received whole. */
  latest(socket: Socket): Exchange | undefined {
    return this.#connections.get(socket)?.open.at(-1);
  }

  /** Records an exchange whose outcome is certain, though its connection is still busy with it. */
  settle(reply: FastifyReply, status: number): void {
    const open = this.#connections.get(reply.request.raw.socket)?.open ?? [];
    const exchange = open.find((each) => each.reply === reply);
    if (exchange) this.#record(exchange, status);
  }

  #connect(socket: Socket): Connection {
    const connection: Connection = { open: [], isPaused: false };
    this.#connections.set(socket, connection);
    socket.once("close", () => {
      for (const exchange of connection.open.splice(0)) this.#record(exchange, clientClosedRequest);
    });
    return connection;
  }

  #record(exchange: Exchange, status: number): void {
    if (exchange.isRecorded) return;
    exchange.isRecorded = true;
    const { request } = exchange.reply;
    this.#accessLog.record({
      method: request.method,
      route: request.routeOptions.url,
      status,
      ms: monotonicMs() - exchange.startedAtMs,
      requestId: request.id,
      isQuiet: request.routeOptions.logLevel === "debug",
    });
  }
}
