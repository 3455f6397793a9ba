import type { FastifyReply } from "fastify";
import { monotonicMs } from "../../../services/platform/process/clock.ts";
import type { StalledAnswer, StalledAnswers } from "./stalled-answers.ts";

interface ClientReadingParts {
  readonly reply: FastifyReply;
  readonly stalled: StalledAnswers;
  /** Nothing more is to come until `onResume`. */
  readonly onPause: () => void;
  readonly onResume: () => void;
  /** Its answer is to end, because others need the memory. */
  readonly onCutOff: () => void;
}

/** Whether the client of an answer reads it. While it does not, the answer waits among others like it. */
export class ClientReading implements StalledAnswer {
  readonly #parts: ClientReadingParts;
  #pausedAtMs: number | undefined;
  #isCutOff = false;

  constructor(parts: ClientReadingParts) {
    this.#parts = parts;
  }

  end(): void {
    if (this.#pausedAtMs !== undefined) this.#goOn();
  }

  /** The client does not take more at once. */
  pause(): void {
    // More may come until a pause takes effect.
    if (this.#pausedAtMs !== undefined) return;
    this.#pausedAtMs = monotonicMs();
    const { reply, stalled, onPause } = this.#parts;
    // Chunks are written to the socket, too.
    reply.raw.on("drain", this.#resumed);
    reply.request.raw.socket.on("drain", this.#resumed);
    onPause();
    stalled.add(this);
  }

  /** Whether it was given up on, or has not read for so long. */
  hasStalledFor(ms: number): boolean {
    return this.#isCutOff || (this.#pausedAtMs !== undefined && monotonicMs() - this.#pausedAtMs >= ms);
  }

  get keyId(): string {
    return this.#parts.reply.request.caller.principal.keyId;
  }

  cutOff(): void {
    this.#isCutOff = true;
    this.#parts.onCutOff();
  }

  readonly #resumed = (): void => {
    // Until the turn of the answer has come on its connection, the socket tells of those before it.
    if (this.#pausedAtMs === undefined || !this.#parts.reply.raw.socket) return;
    this.#goOn();
    this.#parts.onResume();
  };

  #goOn(): void {
    this.#pausedAtMs = undefined;
    const { reply, stalled } = this.#parts;
    reply.raw.off("drain", this.#resumed);
    reply.request.raw.socket.off("drain", this.#resumed);
    stalled.remove(this);
  }
}
