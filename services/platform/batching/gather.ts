interface Asker<V> {
  readonly resolve: (value: V | undefined) => void;
  readonly reject: (error: unknown) => void;
}

interface GatherOptions<K, V> {
  readonly keyOf: (key: K) => string;
  /** Finds all of these at once, by the text of their key. */
  readonly find: (keys: readonly K[]) => Promise<ReadonlyMap<string, V>>;
  readonly batchMax: number;
  /** How many batches may be under way at once. */
  readonly batchesMax: number;
}

/**
 * Gathers concurrent look-ups into batches. There is no timer: while batches are under way, new look-ups wait for the
 * next one, so a lone look-up goes out at once. A look-up never joins a batch that has begun, so it sees all that was
 * stored before it.
 */
export class Gather<K, V> {
  readonly #options: GatherOptions<K, V>;
  readonly #waiting = new Map<string, { readonly key: K; readonly askers: Asker<V>[] }>();
  #batches = 0;

  constructor(options: GatherOptions<K, V>) {
    this.#options = options;
  }

  find(key: K): Promise<V | undefined> {
    return new Promise((resolve, reject) => {
      const text = this.#options.keyOf(key);
      const entry = this.#waiting.get(text);
      if (entry) entry.askers.push({ resolve, reject });
      else this.#waiting.set(text, { key, askers: [{ resolve, reject }] });
      if (this.#batches < this.#options.batchesMax) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#batches += 1;
    // What arrives in the same turn of the event loop belongs in one batch.
    await new Promise(setImmediate);
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting].slice(0, this.#options.batchMax);
      for (const [text] of batch) this.#waiting.delete(text);
      await this.#answer(batch);
    }
    this.#batches -= 1;
  }

  async #answer(batch: readonly [string, { readonly key: K; readonly askers: readonly Asker<V>[] }][]): Promise<void> {
    try {
      const found = await this.#options.find(batch.map(([, { key }]) => key));
      for (const [text, { askers }] of batch) for (const { resolve } of askers) resolve(found.get(text));
    } catch (error) {
      for (const [, { askers }] of batch) for (const { reject } of askers) reject(error);
    }
  }
}
