/**
 * At most two, because each is looked up separately: building one text of all labels would cost more than the counting.
 */
export type LabelNames = readonly [] | readonly [string] | readonly [string, string];

/** What is counted for each combination of the values of labels. */
export class ByLabels<T> {
  readonly #names: LabelNames;
  readonly #make: () => T;
  /** By the values of the first and the second label. */
  readonly #all = new Map<string, Map<string, T>>();

  constructor(names: LabelNames, make: () => T) {
    this.#names = names;
    this.#make = make;
  }

  at(first: string, second: string): T {
    return this.#all.get(first)?.get(second) ?? this.#add(first, second);
  }

  /** Each with its labels. */
  *entries(): Generator<[Readonly<Record<string, string>>, T]> {
    const [firstName, secondName] = this.#names;
    for (const [first, ofFirst] of this.#all) {
      for (const [second, counted] of ofFirst) {
        const labels: Record<string, string> = {};
        if (firstName !== undefined) labels[firstName] = first;
        if (secondName !== undefined) labels[secondName] = second;
        yield [labels, counted];
      }
    }
  }

  #add(first: string, second: string): T {
    const counted = this.#make();
    this.#all.set(first, (this.#all.get(first) ?? new Map()).set(second, counted));
    return counted;
  }
}
