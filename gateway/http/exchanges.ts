import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type Trace, type Tracer, traceOf } from "../../services/platform/observe/trace.ts";
import { monotonicMs } from "../../services/platform/process/clock.ts";
import type { AccessLog } from "./access-log.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Undefined only before its first hook. */
    exchange: Exchange | undefined;
  }
}

/** A request that has arrived, at least its headers, and is not answered to its end. */
interface Exchange {
  readonly reply: FastifyReply;
  readonly startedAtMs: number;
  /** What is done for it is part of it. */
  readonly trace: Trace | undefined;
  isRecorded: boolean;
  /** What is given back with its end, which comes once, however the exchange ends. */
  held?: { release(): void };
  /** Where it waits for its turn. */
  begin?: () => void;
}

interface Connection {
  /** In the order of arrival, which is that of the answers: more than one where requests are pipelined. */
  readonly open: Exchange[];
  isPaused: boolean;
}

/**
 * So many requests of one connection are worked on at once; the others wait, and no more are read meanwhile.
 * Node itself has no bound: a caller who reads nothing could have answers made until the memory is full.
 */
const atOnceMax = 8;

/** An answer that is made after its connection broke has nobody else to complain to. */
const ignoreError = (): void => {};

/** No answer: the caller had gone, or was not waited for any longer. */
export const clientClosedRequest = 499;

/** What is in flight on which connection. Every exchange is recorded once, however it ends. */
export class Exchanges {
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #accessLog: AccessLog;
  readonly #tracer: Tracer | undefined;

  constructor(accessLog: AccessLog, tracer: Tracer | undefined) {
    this.#accessLog = accessLog;
    this.#tracer = tracer;
  }

  /** Calls `work` at once, or where the request has to wait, when it is its turn. */
  begin(reply: FastifyReply, work: () => void): void {
    const { socket } = reply.request.raw;
    const connection = this.#connections.get(socket) ?? this.#connect(socket);
    const exchange: Exchange = {
      reply,
      startedAtMs: monotonicMs(),
      trace: beginTrace(this.#tracer, reply.request),
      isRecorded: false,
    };
    reply.request.exchange = exchange;
    connection.open.push(exchange);
    reply.raw.on("error", ignoreError);
    if (!reply.raw.socket) reply.raw.once("socket", () => endWhereBrokenOff(reply));
    reply.raw.on("finish", () => {
      // Node says so of an answer that it could not send, too; the close tells of that one.
      if (!socket.destroyed) this.#finish(connection, socket);
    });
    if (connection.open.length <= atOnceMax) {
      work();
    } else {
      connection.isPaused = true;
      socket.pause();
      exchange.begin = work;
    }
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
      for (const exchange of connection.open.splice(0)) this.#end(exchange, clientClosedRequest);
    });
    return connection;
  }

  /** The oldest is always the first to be answered to its end. */
  #finish(connection: Connection, socket: Socket): void {
    const { open } = connection;
    const exchange = open.shift();
    if (exchange) this.#end(exchange, exchange.reply.raw.statusCode);
    open[atOnceMax - 1]?.begin?.();
    if (connection.isPaused && open.length < atOnceMax) {
      connection.isPaused = false;
      socket.resume();
    }
  }

  #end(exchange: Exchange, status: number): void {
    this.#record(exchange, status);
    exchange.held?.release();
  }

  #record(exchange: Exchange, status: number): void {
    if (exchange.isRecorded) return;
    exchange.isRecorded = true;
    const { request } = exchange.reply;
    const { routeOptions } = request;
    this.#accessLog.record({
      method: request.method,
      route: routeOptions.url,
      status,
      ms: monotonicMs() - exchange.startedAtMs,
      requestId: request.id,
      trace: exchange.trace,
      isQuiet: isQuiet(routeOptions),
    });
  }
}

/**
 * Node does not end a connection for an answer that broke off before its turn had come there. Those behind it would wait
 * for ever. What there is of it is sent first, as it would be of any other.
 */
function endWhereBrokenOff({ raw }: FastifyReply): void {
  if (raw.destroyed) process.nextTick(() => raw.socket?.destroySoon());
}

function beginTrace(tracer: Tracer | undefined, request: FastifyRequest): Trace | undefined {
  const { traceparent, tracestate } = request.raw.headers;
  const trace = traceOf(tracer, traceparent, tracestate);
  if (!trace?.span) return trace;
  // Asked for only here: fastify makes them anew each time.
  const { routeOptions } = request;
  // Probes come by the clock, and say nothing of anybody's request.
  if (isQuiet(routeOptions)) return undefined;
  trace.span.nameAs(`${request.method} ${routeOptions.url ?? "none"}`);
  trace.span.nameRequest(request.id);
  return trace;
}

function isQuiet({ logLevel }: FastifyRequest["routeOptions"]): boolean {
  return logLevel === "debug";
}
