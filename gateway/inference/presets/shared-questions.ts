import { isOfKind } from "../../../services/platform/domain/domain-error.ts";
import { monotonicMs } from "../../../services/platform/process/clock.ts";
import { TransientMap } from "../../../services/platform/process/transient-map.ts";

/** On whose behalf a lookup is made. */
export interface Asker {
  readonly principal: { readonly keyId: string };
  /** Whether its grant has expired, so that a service may reject it. */
  readonly isStale: boolean;
}

/** A lookup at a service. Everyone who needs the same one meanwhile waits for its answer. */
export class Question<Answer> {
  readonly askedAtMs = monotonicMs();
  /** Never rejects. */
  readonly settled: Promise<void>;
  /** Whether its subject was changed since: later callers have to ask again. */
  isOutdated = false;
  #outcome: { readonly answer: Answer } | { readonly error: unknown } | undefined;
  readonly #asker: Asker;

  constructor(asker: Asker, ask: (question: Question<Answer>) => Promise<Answer>) {
    this.#asker = asker;
    this.settled = ask(this).then(
      (answer) => {
        this.#outcome = { answer };
      },
      (error: unknown) => {
        this.#outcome = { error };
      },
    );
  }

  get isSettled(): boolean {
    return this.#outcome !== undefined;
  }

  /** The answer; throws the error if it failed. Only after it is settled. */
  answer(): Answer {
    if (!this.#outcome) throw new Error("A question is not answered yet");
    if ("error" in this.#outcome) throw this.#outcome.error;
    return this.#outcome.answer;
  }

  /**
   * Whether it failed for a reason that need not apply to this caller: another caller, which had begun to wait earlier,
   * was refused or ran out of time.
   */
  isToBeRepeatedFor({ principal, isStale }: Asker, cameAtMs: number): boolean {
    if (!this.#outcome || !("error" in this.#outcome)) return false;
    if (!isAboutAsker(this.#outcome.error)) return this.askedAtMs < cameAtMs;
    return principal.keyId !== this.#asker.principal.keyId || isStale !== this.#asker.isStale;
  }
}

/** Whether an error is about the caller, and not about what it asks for. */
export function isAboutAsker(error: unknown): boolean {
  return isOfKind(error, "permission_denied", "unauthenticated", "not_found", "invalid_argument");
}

/** The lookups in flight, by their subject. */
export class SharedQuestions<Answer> {
  readonly #underWay = new TransientMap<string, Question<Answer>>();

  get count(): number {
    return this.#underWay.size;
  }

  find(about: string): Question<Answer> | undefined {
    return this.#underWay.get(about);
  }

  put(about: string, asker: Asker, ask: (question: Question<Answer>) => Promise<Answer>): Question<Answer> {
    const question = new Question(asker, ask);
    this.#underWay.set(about, question);
    void question.settled.then(() => this.#end(about, question));
    return question;
  }

  /** To be called after a change. An answer that is still to come may predate it. */
  outdate(about: string): void {
    const question = this.#underWay.get(about);
    if (!question) return;
    question.isOutdated = true;
    this.#end(about, question);
  }

  #end(about: string, question: Question<Answer>): void {
    if (this.#underWay.get(about) === question) this.#underWay.delete(about);
  }
}
