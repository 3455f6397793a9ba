interface Cell<Value> {
  value: Value | undefined;
}

/**
 * A Map for entries that come and go with every call.
 *
 * As entries are deleted and added, V8 moves a Map from one table to the next, and each abandoned table still refers to
 * its successor and to the entries it held. Once one of these tables is in the old generation, all later ones and their
 * entries are promoted after it, and stay until the next full garbage collection. Here, what is left behind is empty.
 */
export class TransientMap<Key, Value> {
  readonly #cells = new Map<Key, Cell<Value>>();

  get size(): number {
    return this.#cells.size;
  }

  get(key: Key): Value | undefined {
    return this.#cells.get(key)?.value;
  }

  set(key: Key, value: Value): void {
    const cell = this.#cells.get(key);
    if (cell) cell.value = value;
    else this.#cells.set(key, { value });
  }

  delete(key: Key): void {
    const cell = this.#cells.get(key);
    if (!cell) return;
    cell.value = undefined;
    this.#cells.delete(key);
  }

  /** A copy, in the order in which keys were added. */
  entries(): [Key, Value][] {
    return Array.from(this.#cells, ([key, { value }]) => [key, value as Value]);
  }
}
