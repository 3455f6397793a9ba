/** What can be in a set. */
export interface Member {
  /** Its index in the set, which alone writes it. */
  place: number;
}

/** Where a member is that is in no set. */
export const nowhere = -1;

/**
 * A Set for what comes and goes with every call, of which each member is in one at most. It has the reason of
 * `TransientMap`; here members know their places, so that nothing is left behind.
 */
export class TransientSet<T extends Member> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(member: T): void {
    if (member.place !== nowhere) return;
    member.place = this.#members.length;
    this.#members.push(member);
  }

  delete(member: T): void {
    const { place } = member;
    if (place === nowhere) return;
    const last = this.#members.pop() as T;
    if (last !== member) {
      this.#members[place] = last;
      last.place = place;
    }
    member.place = nowhere;
  }

  /** In no order that says anything. Members may be deleted meanwhile. */
  *[Symbol.iterator](): Generator<T> {
    // Backwards: the one that takes the place of one that is deleted has had its turn already.
    for (let place = this.#members.length - 1; place >= 0; place -= 1) {
      const member = this.#members[place];
      if (member) yield member;
    }
  }
}
