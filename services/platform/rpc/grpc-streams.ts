import { constants, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { Code } from "@connectrpc/connect";
import type { Metadata, Server } from "@grpc/grpc-js";
import type { DomainError } from "../domain/domain-error.ts";
import type { CallBytes, CallHold } from "./call-bytes.ts";
import { grpcPathOf, requestBytesMax } from "./grpc-definition.ts";
import { invalidTimeout, overloaded, unsupportedRequest } from "./refusals.ts";
import type { ServedMethod } from "./service.ts";

/** Tells a handler which stream its call came on. Whatever a caller sends by this name is overwritten. */
const streamHeader = "x-setpoint-stream";

/** Room for the length and the flags of the messages. */
const envelopesBytesMax = 1024;

interface GrpcStream {
  readonly hold: CallHold;
  readonly refusal: DomainError | undefined;
  isHandled: boolean;
}

/**
 * The HTTP/2 streams below grpc-js, which tells nothing of what it answers by itself (a message that is too large, none, or
 * two), calls a timeout or a compression that it cannot read INTERNAL, and holds what nobody has read without a bound.
 */
export class GrpcStreams {
  readonly #methods: ReadonlyMap<string, ServedMethod>;
  readonly #bytes: CallBytes;
  readonly #streams = new Map<string, GrpcStream>();
  readonly #watched = new WeakSet<Http2Server>();
  #opened = 0;

  constructor(methods: readonly ServedMethod[], bytes: CallBytes) {
    this.#methods = new Map(methods.map((method) => [grpcPathOf(method.descriptor), method]));
    this.#bytes = bytes;
  }

  /** To be called once the server is bound, and again where it is bound to another address. */
  watch(server: Server): void {
    for (const http2Server of http2ServersOf(server)) {
      if (this.#watched.has(http2Server)) continue;
      this.#watched.add(http2Server);
      // Ahead of grpc-js, so that it reads the headers as they are left here.
      http2Server.prependListener("stream", (stream, headers) => this.#open(stream, headers));
    }
  }

  /** What a call came on, and why it is refused, if it is. */
  handled(metadata: Metadata, { isProbe }: ServedMethod): Partial<Pick<GrpcStream, "hold" | "refusal">> {
    const stream = this.#streams.get(String(metadata.get(streamHeader)[0]));
    // It came on one of several addresses while the others were still being bound.
    if (!stream) return {};
    stream.isHandled = true;
    const { hold, refusal } = stream;
    return { hold, refusal: refusal ?? (hold.isRefused && !isProbe ? overloaded() : undefined) };
  }

  #open(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const method = this.#methods.get(headers[":path"] ?? "");
    // grpc-js answers this one without a handler.
    if (!method || !stream.session) return;
    this.#opened += 1;
    const id = String(this.#opened);
    const hold = this.#bytes.open(stream.session, stream);
    const opened: GrpcStream = { hold, refusal: takeUnreadable(headers), isHandled: false };
    headers[streamHeader] = id;
    this.#streams.set(id, opened);
    let receivedBytes = 0;
    stream.on("data", ({ length }: Buffer) => {
      receivedBytes += length;
      hold.received(length);
      // Who sends on after too large a message has had the answer to that.
      const isEndless = receivedBytes > requestBytesMax + envelopesBytesMax;
      if (isEndless || this.#bytes.isFlooded) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    });
    stream.once("close", () => {
      this.#streams.delete(id);
      if (opened.isHandled) return;
      const header = (name: string) => headers[name]?.toString();
      method.refused(codeSent(stream), {
        header,
        deadlineMs: undefined,
        isCanceled: () => true,
        rpcSystem: "grpc",
        signal: undefined,
        hold,
      });
    });
  }
}

/** Takes out the headers that grpc-js cannot read, and says why a call with them is refused. */
function takeUnreadable(headers: IncomingHttpHeaders): DomainError | undefined {
  const { "grpc-timeout": timeout, "grpc-encoding": encoding = "identity" } = headers;
  let refusal: DomainError | undefined;
  if (timeout !== undefined) {
    const isTimeout = typeof timeout === "string" && /^\d{1,8}[HMSmun]$/.test(timeout);
    if (!isTimeout) refusal = invalidTimeout("grpc-timeout");
    // grpc-js counts in milliseconds of 32 bits, and no call takes as long as an hour anyway.
    if (!isTimeout || timeout.endsWith("H")) delete headers["grpc-timeout"];
  }
  if (encoding !== "identity") {
    delete headers["grpc-encoding"];
    refusal ??= unsupportedRequest();
  }
  return refusal;
}

/** What a stream was answered that no handler of ours has seen. */
function codeSent({ sentTrailers, sentHeaders, rstCode }: ServerHttp2Stream): Code {
  const status = sentTrailers?.["grpc-status"] ?? sentHeaders?.["grpc-status"];
  if (status !== undefined) return Number(status);
  return rstCode === constants.NGHTTP2_ENHANCE_YOUR_CALM ? Code.ResourceExhausted : Code.Canceled;
}

/** grpc-js has no public way to them. */
function http2ServersOf(server: Server): Iterable<Http2Server> {
  const servers: unknown = Reflect.get(server, "http2Servers");
  if (!(servers instanceof Map) || servers.size === 0)
    throw new Error("grpc-js keeps its HTTP/2 servers elsewhere now");
  return servers.keys();
}
