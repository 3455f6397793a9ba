import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Principal } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { WaitingRequests } from "../../services/platform/http/waiting-requests.ts";
import { type Trace, type Tracer, traceOf } from "../../services/platform/observe/trace.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import type { AccessLog, LogDetails } from "./access-log.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Undefined only before the first hook. */
    exchange: Exchange | undefined;
  }
}

/** A request whose headers have arrived, and whose answer has not been sent completely. */
interface Exchange {
  readonly reply: FastifyReply;
  readonly startedAtMs: number;
  /** The trace that the work for it belongs to. */
  readonly trace: Trace | undefined;
  isRecorded: boolean;
  /** Who makes it, once that is known. */
  principal?: Principal;
  /** May be added to until the request is over. */
  details?: LogDetails;
  /** Starts the work, if the request waits for its turn. */
  begin?: (() => void) | undefined;
}

interface Connection {
  /** In order of arrival, which is that of the answers: more than one if requests are pipelined. */
  readonly open: Exchange[];
  isPaused: boolean;
}

/**
 * How many requests of one connection are processed at once. The others wait, and no more are read meanwhile. Node has
 * no such limit: a caller that reads nothing could cause answers until the memory is full.
 */
const openMax = 8;

/** An answer that is written after its connection broke may emit an error, which is of no use to anyone. */
const ignoreError = (): void => {};

/** The status that is recorded if the caller disconnected, or was not waited for any longer. */
export const clientClosedRequest = 499;

/** The exchanges in flight on each connection. Every exchange is recorded once, however it ends. */
export class Exchanges {
  readonly waiting = new WaitingRequests();
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #accessLog: AccessLog;
  readonly #tracer: Tracer | undefined;

  constructor(accessLog: AccessLog, tracer: Tracer | undefined) {
    this.#accessLog = accessLog;
    this.#tracer = tracer;
  }

  /** Calls `work` at once or, if the request has to wait, when it is its turn. */
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
    if (!reply.raw.socket) reply.raw.once("socket", () => endIfBrokenOff(reply));
    reply.raw.on("finish", () => {
      // Node also emits this for an answer that it could not send. The `close` of the socket ends that one.
      if (!socket.destroyed) this.#finish(connection, socket);
    });
    if (connection.open.length <= openMax) {
      work();
    } else {
      connection.isPaused = true;
      socket.pause();
      exchange.begin = work;
      this.waiting.add();
    }
  }

  /** The youngest of a connection. All others there have been received completely. */
  latest(socket: Socket): Exchange | undefined {
    return this.#connections.get(socket)?.open.at(-1);
  }

  /** Records an exchange before it ends, because its outcome is certain. */
  settle(reply: FastifyReply, status: number): void {
    const open = this.#connections.get(reply.request.raw.socket)?.open ?? [];
    const exchange = open.find((each) => each.reply === reply);
    if (exchange) this.#record(exchange, status);
  }

  #connect(socket: Socket): Connection {
    const connection: Connection = { open: [], isPaused: false };
    this.#connections.set(socket, connection);
    socket.once("close", () => {
      for (const exchange of connection.open.splice(0)) {
        if (exchange.begin) this.waiting.remove(1);
        this.#end(exchange, clientClosedRequest);
      }
    });
    return connection;
  }

  /** The oldest is always the first to be answered completely. */
  #finish(connection: Connection, socket: Socket): void {
    const { open } = connection;
    const exchange = open.shift();
    if (exchange) this.#end(exchange, exchange.reply.raw.statusCode);
    const next = open[openMax - 1];
    // In another turn of the event loop: thousands may wait, and others must not have to wait for all of them.
    if (next?.begin) setImmediate(() => socket.destroyed || this.#beginLate(next));
    if (connection.isPaused && open.length < openMax) {
      connection.isPaused = false;
      socket.resume();
    }
  }

  #beginLate(exchange: Exchange): void {
    const { begin } = exchange;
    exchange.begin = undefined;
    this.waiting.remove(1);
    begin?.();
  }

  #end(exchange: Exchange, status: number): void {
    this.#record(exchange, status);
    exchange.reply.request.memory?.release();
  }

  #record(exchange: Exchange, status: number): void {
    if (exchange.isRecorded) return;
    exchange.isRecorded = true;
    const { request } = exchange.reply;
    const { routeOptions } = request;
    this.#accessLog.record({
      method: request.method,
      route: routeOptions.url ?? request.knownPath?.url,
      status,
      ms: monotonicMs() - exchange.startedAtMs,
      requestId: request.id,
      trace: exchange.trace,
      principal: exchange.principal,
      details: exchange.details,
      isQuiet: isQuiet(routeOptions),
    });
  }
}

/**
 * Node does not end a connection for an answer that broke off before its turn. Those behind it would wait forever. What
 * exists of it is sent first, as for any other.
 */
function endIfBrokenOff({ raw }: FastifyReply): void {
  if (raw.destroyed) process.nextTick(() => raw.socket?.destroySoon());
}

function beginTrace(tracer: Tracer | undefined, request: FastifyRequest): Trace | undefined {
  const { traceparent, tracestate } = request.raw.headers;
  const trace = traceOf(tracer, traceparent, tracestate);
  if (!trace?.span) return trace;
  // Only here, because Fastify recreates them at each access.
  const { routeOptions } = request;
  // Probes are not traced: they belong to no caller's request.
  if (isQuiet(routeOptions)) return undefined;
  trace.span.nameAs(`${request.method} ${routeOptions.url ?? request.knownPath?.url ?? "none"}`);
  trace.span.nameRequest(request.id);
  return trace;
}

function isQuiet({ logLevel }: FastifyRequest["routeOptions"]): boolean {
  return logLevel === "debug";
}
