import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../../proto/gen/grpc/health/v1/health_pb.ts";
import { readMessage } from "../protobuf/messages.ts";
import { Code } from "./codes.ts";
import { GrpcConnection, type Peer } from "./grpc-connection.ts";
import { frameOf, grpcPathOf } from "./grpc-messages.ts";

const { input, output } = Health.method.watch;
const path = grpcPathOf(Health.method.watch);
const frame = frameOf(input, {});

const rewatchFirstMs = 100;
const rewatchMaxMs = 2_000;

interface EndpointParts {
  readonly peer: Peer;
  readonly onChange: () => void;
  /** The process may be gone for good: its connection has ended, or it has stopped answering. */
  readonly onMayBeGone: () => void;
}

/** One process behind a target. Its readiness is watched all the time (`grpc.health.v1`). */
export class Endpoint {
  readonly connection: GrpcConnection;
  readonly #parts: EndpointParts;
  #isServing = false;
  #watch: { cancel(): void } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;

  constructor(parts: EndpointParts) {
    this.#parts = parts;
    this.connection = new GrpcConnection(parts.peer);
    this.#startWatch();
  }

  /** Whether its last report was that it is ready. False before the first report. */
  get isServing(): boolean {
    return this.#isServing;
  }

  /** To be called when it did not answer a call in time: it gets no more calls until it reports ready again. */
  markNotServing(): void {
    if (!this.#isServing) return;
    this.#set(false);
    this.#startWatch();
    this.#parts.onMayBeGone();
  }

  /** Calls in flight are answered. */
  close(): void {
    clearTimeout(this.#timer);
    // One of those calls may still time out, which must not start another watch.
    this.#isServing = false;
    const watch = this.#watch;
    this.#watch = undefined;
    watch?.cancel();
    this.connection.close();
  }

  #set(isServing: boolean): void {
    if (isServing === this.#isServing) return;
    this.#isServing = isServing;
    this.#parts.onChange();
  }

  #startWatch(): void {
    let hasAnswered = false;
    const watch = this.connection.call(path, [], frame, {
      onMessage: (bytes) => {
        hasAnswered = true;
        this.#failures = 0;
        this.#set(readMessage(output, bytes).status === ServingStatus.SERVING);
      },
      onEnd: ({ code }) => {
        if (this.#watch === watch) this.#watchAgain(code, hasAnswered);
      },
    });
    const before = this.#watch;
    this.#watch = watch;
    before?.cancel();
  }

  #watchAgain(code: Code | undefined, hasAnswered: boolean): void {
    // A service without health checks has to be assumed ready.
    if (code === Code.Unimplemented) this.#set(true);
    // Every connection ends after a while. The next watch shows whether it was only that.
    else if (!hasAnswered) this.#set(false);
    const delayMs = code === Code.Unimplemented ? rewatchMaxMs : rewatchFirstMs * 2 ** this.#failures;
    this.#failures += 1;
    this.#timer = setTimeout(() => this.#startWatch(), Math.min(rewatchMaxMs, delayMs)).unref();
    this.#parts.onMayBeGone();
  }
}
