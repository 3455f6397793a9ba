import { isOfKind } from "../../../services/platform/domain/domain-error.ts";
import { monotonicMs } from "../../../services/platform/process/clock.ts";
import { TransientMap } from "../../../services/platform/process/transient-map.ts";

/** On whose behalf a question is put. */
export interface Asker {
  readonly principal: { readonly keyId: string };
  /** Whether their grant has run out, so that a service may not take it. */
  readonly isStale: boolean;
}

/** A question to a service. Everybody who has the same one meanwhile waits for its answer. */
export class Question<Answer> {
  readonly askedAtMs = monotonicMs();
  /** Never rejected. */
  readonly settled: Promise<void>;
  /** Whether what it is about was changed since: whoever comes now has to ask again. */
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

  /** Throws why there is none. Only for one that is settled. */
  answer(): Answer {
    if (!this.#outcome) throw new Error("A question is not answered yet");
    if ("error" in this.#outcome) throw this.#outcome.error;
    return this.#outcome.answer;
  }

  /**
   * Whether it failed for a reason that need not hold for this asker: somebody else was refused, or ran out of time, who
   * had begun to wait earlier.
   */
  isToBeRepeatedFor({ principal, isStale }: Asker, cameAtMs: number): boolean {
    if (!this.#outcome || !("error" in this.#outcome)) return false;
    if (!isAboutAsker(this.#outcome.error)) return this.askedAtMs < cameAtMs;
    return principal.keyId !== this.#asker.principal.keyId || isStale !== this.#asker.isStale;
  }
}

/** Whether an error is about the caller, and not about what they ask for. */
export function isAboutAsker(error: unknown): boolean {
  return isOfKind(error, "permission_denied", "unauthenticated", "not_found", "invalid_argument");
}

/** The questions that are under way, by what they are about. */
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

  /** To be called after a change. An answer that is still to come may be from before it. */
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
