import type { FastifyReply } from "fastify";
import { monotonicMs } from "../../../services/platform/time/clock.ts";
import type { StalledAnswer, StalledAnswers } from "./stalled-answers.ts";

interface ClientReadingParts {
  readonly reply: FastifyReply;
  readonly stalled: StalledAnswers;
  /** Nothing more should be written until `onResume`. */
  readonly onPause: () => void;
  readonly onResume: () => void;
  /** The answer has to end, because others need the memory. */
  readonly onCutOff: () => void;
}

/** Watches whether the client of an answer reads it. While it does not, the answer is one of the stalled ones. */
export class ClientReading implements StalledAnswer {
  readonly #parts: ClientReadingParts;
  #pausedAtMs: number | undefined;
  #isCutOff = false;

  constructor(parts: ClientReadingParts) {
    this.#parts = parts;
  }

  end(): void {
    if (this.#pausedAtMs !== undefined) this.#unpause();
  }

  /** The client does not accept more at once. */
  pause(): void {
    // More may be written before the pause takes effect.
    if (this.#pausedAtMs !== undefined) return;
    this.#pausedAtMs = monotonicMs();
    const { reply, stalled, onPause } = this.#parts;
    // On both, because some chunks are written to the socket directly.
    reply.raw.on("drain", this.#resumed);
    reply.request.raw.socket.on("drain", this.#resumed);
    onPause();
    stalled.add(this);
  }

  /** Whether it was cut off, or has not been read for this long. */
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
    // Until it is this answer's turn on the connection, the socket drains the answers before it.
    if (this.#pausedAtMs === undefined || !this.#parts.reply.raw.socket) return;
    this.#unpause();
    this.#parts.onResume();
  };

  #unpause(): void {
    this.#pausedAtMs = undefined;
    const { reply, stalled } = this.#parts;
    reply.raw.off("drain", this.#resumed);
    reply.request.raw.socket.off("drain", this.#resumed);
    stalled.remove(this);
  }
}
