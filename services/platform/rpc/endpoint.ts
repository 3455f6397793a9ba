import { create } from "@bufbuild/protobuf";
import { type ChannelCredentials, type ChannelOptions, Client, Metadata, status } from "@grpc/grpc-js";
import {
  Health,
  type HealthCheckResponse,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../../proto/gen/grpc/health/v1/health_pb.ts";
import { grpcDefinitionOf } from "./grpc-definition.ts";

const { path, requestSerialize, responseDeserialize } = grpcDefinitionOf(Health.method.watch);

const rewatchFirstMs = 100;
const rewatchMaxMs = 2_000;

interface EndpointParts {
  /** `ip:port`. */
  readonly address: string;
  readonly credentials: ChannelCredentials;
  readonly options: ChannelOptions;
  readonly onChange: () => void;
  /** The connection may have ended, and the process behind it be gone for good. */
  readonly onWatchEnd: () => void;
}

/** One process behind a target. It is asked all the time whether it is ready (`grpc.health.v1`); grpc-js does not do this. */
export class Endpoint {
  readonly client: Client;
  readonly #parts: EndpointParts;
  #isServing = false;
  #watch: { cancel(): void } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;

  constructor(parts: EndpointParts) {
    this.#parts = parts;
    this.client = new Client(parts.address, parts.credentials, parts.options);
    this.#startWatch();
  }

  /** Whether it said last that it is ready. False until it has said anything. */
  get isServing(): boolean {
    return this.#isServing;
  }

  /** To be told of a call that it did not answer in time: it gets no more of them until it says again that it is ready. */
  doubt(): void {
    if (!this.#isServing) return;
    this.#set(false);
    this.#startWatch();
  }

  /** Calls in flight are answered. */
  close(): void {
    clearTimeout(this.#timer);
    // Nothing is left to doubt: one of those calls may still run out of time.
    this.#isServing = false;
    const watch = this.#watch;
    this.#watch = undefined;
    watch?.cancel();
    this.client.close();
  }

  #set(isServing: boolean): void {
    if (isServing === this.#isServing) return;
    this.#isServing = isServing;
    this.#parts.onChange();
  }

  #startWatch(): void {
    const message = create(Health.method.watch.input);
    const watch = this.client.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      message,
      new Metadata(),
    );
    const before = this.#watch;
    this.#watch = watch;
    before?.cancel();
    let hasAnswered = false;
    watch.on("data", (answer) => {
      if (this.#watch !== watch) return;
      hasAnswered = true;
      this.#failures = 0;
      this.#set((answer as HealthCheckResponse).status === ServingStatus.SERVING);
    });
    // It ends with its status, below; but an error that nobody listens to would end the process.
    watch.on("error", () => {});
    watch.on("status", ({ code }) => {
      if (this.#watch === watch) this.#watchAgain(code, hasAnswered);
    });
  }

  #watchAgain(code: status, hasAnswered: boolean): void {
    // A service without health checks can only be believed to be ready.
    if (code === status.UNIMPLEMENTED) this.#set(true);
    // Every connection ends after a while. Whether it was that, the next watch tells.
    else if (!hasAnswered) this.#set(false);
    const delayMs = code === status.UNIMPLEMENTED ? rewatchMaxMs : rewatchFirstMs * 2 ** this.#failures;
    this.#failures += 1;
    this.#timer = setTimeout(() => this.#startWatch(), Math.min(rewatchMaxMs, delayMs)).unref();
    this.#parts.onWatchEnd();
  }
}
