interface Cell<Value> {
  value: Value | undefined;
}

/**
 * A Map for what comes and goes with every call.
 *
 * While entries are deleted and others set, V8 moves a Map from table to table, and each that it has left still refers to
 * the next and to what it held. Once one of them is among the old objects, all later ones follow it there, with what was
 * in them, until V8 looks at all of the heap. Here what is left behind is empty.
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

  /** As it is now, in the order in which keys came. */
  entries(): [Key, Value][] {
    return Array.from(this.#cells, ([key, { value }]) => [key, value as Value]);
  }
}
