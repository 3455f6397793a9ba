/** An answer that its client is currently not reading. */
export interface StalledAnswer {
  readonly keyId: string;
  /** Ends it, and removes it here. */
  cutOff(): void;
}

/** The memory of each: the piece that is being sent, and what came after it until the upstream was paused. */
const answerBytes = 192 * 1024;

/**
 * The answers that wait for their clients. Their memory is bounded in total. When it is full, one is cut off: the one
 * that has stalled longest, among those of the key that has most of them.
 */
export class StalledAnswers {
  readonly #countMax: number;
  readonly #byKey = new Map<string, Set<StalledAnswer>>();
  #count = 0;

  constructor(bytesMax: number) {
    this.#countMax = Math.floor(bytesMax / answerBytes);
  }

  add(answer: StalledAnswer): void {
    const { keyId } = answer;
    const ofKey = this.#byKey.get(keyId) ?? new Set();
    this.#byKey.set(keyId, ofKey.add(answer));
    this.#count += 1;
    if (this.#count > this.#countMax) this.#nextToCutOff().cutOff();
  }

  /** It is being read again, or is over. */
  remove(answer: StalledAnswer): void {
    const ofKey = this.#byKey.get(answer.keyId);
    if (!ofKey?.delete(answer)) return;
    this.#count -= 1;
    if (ofKey.size === 0) this.#byKey.delete(answer.keyId);
  }

  #nextToCutOff(): StalledAnswer {
    const [most] = [...this.#byKey.values()].sort((a, b) => b.size - a.size);
    return most?.values().next().value as StalledAnswer;
  }
}
