/** What was acknowledged of one preset that was created more than once. */
interface LedgerEntry {
  readonly workspaceId: string;
  readonly slug: string;
  readonly versions: number;
}

/** What a run acknowledged on one side, to be compared with what is stored. */
export interface LedgerSummary {
  /** Creations that had to make a preset, and did. */
  readonly newPresets: number;
  /** Creations on slugs that are used again and again. */
  readonly shared: readonly LedgerEntry[];
  readonly faults: readonly string[];
}

/** Remembers every acknowledged creation. */
export class Ledger {
  #newPresets = 0;
  readonly #shared = new Map<string, Set<number>>();
  readonly #faults: string[] = [];

  /** A creation under a slug that nobody else uses. */
  addNew(slug: string, version: number): void {
    this.#newPresets += 1;
    if (version !== 1) this.#faults.push(`the new preset ${slug} was answered with version ${version}`);
  }

  /** A creation under a slug that others use at the same time. */
  addShared(workspaceId: string, slug: string, version: number): void {
    const key = `${workspaceId}/${slug}`;
    const versions = this.#shared.get(key) ?? new Set();
    this.#shared.set(key, versions);
    if (versions.has(version)) this.#faults.push(`version ${version} of ${slug} was answered twice`);
    versions.add(version);
  }

  summarize(): LedgerSummary {
    const shared = [...this.#shared].map(([key, versions]) => {
      const [workspaceId = "", slug = ""] = key.split("/");
      return { workspaceId, slug, versions: versions.size };
    });
    return { newPresets: this.#newPresets, shared, faults: this.#faults.slice(0, 10) };
  }
}
