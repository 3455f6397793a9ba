/** What can be in a set. */
export interface Member {
  /** Its index in the set. Written only by the set. */
  place: number;
}

/** The place of a member that is in no set. */
export const nowhere = -1;

/**
 * A Set for members that come and go with every call; each can be in one set at a time. It exists for the same reason
 * as `TransientMap`; here members know their index, so nothing is left behind.
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

  /** In no particular order. Members may be deleted during the iteration. */
  *[Symbol.iterator](): Generator<T> {
    // Backwards: a deleted member is replaced by the last one, which has been visited already.
    for (let place = this.#members.length - 1; place >= 0; place -= 1) {
      const member = this.#members[place];
      if (member) yield member;
    }
  }
}
