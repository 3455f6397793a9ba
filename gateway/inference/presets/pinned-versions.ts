import type { LRUCache } from "lru-cache";
import { type DomainError, isOfKind } from "../../../services/platform/domain/domain-error.ts";
import { monotonicMs } from "../../../services/platform/time/clock.ts";
import type { PresetClient } from "../../clients/preset-client.ts";
import type { ServiceReach } from "../../clients/service-reach.ts";
import type { InferenceCaller } from "./inference-caller.ts";
import { type KnownPreset, KnownVersion } from "./known-preset.ts";
import { SharedFetches } from "./shared-fetches.ts";

const absentVersionsMax = 100;

/** Versions that requests name by number. Their content never changes, so it is fetched once. */
export class PinnedVersions {
  readonly #client: Pick<PresetClient, "getVersion">;
  readonly #reach: ServiceReach;
  /** Shared with the presets: they are bounded together. */
  readonly #entries: LRUCache<string, KnownPreset | KnownVersion>;
  readonly #fetches = new SharedFetches<KnownVersion | DomainError>();

  constructor(
    client: Pick<PresetClient, "getVersion">,
    reach: ServiceReach,
    entries: LRUCache<string, KnownPreset | KnownVersion>,
  ) {
    this.#client = client;
    this.#reach = reach;
    this.#entries = entries;
  }

  /** The key of a version in the cache. No preset has a key of this form. */
  keyOf({ id }: KnownPreset, version: number): string {
    return `${id}@${version}`;
  }

  find(key: string): KnownVersion | undefined {
    return this.#entries.get(key) as KnownVersion | undefined;
  }

  /** The version, or the error to throw if the preset does not have it. */
  async fetch(caller: InferenceCaller, preset: KnownPreset, version: number): Promise<KnownVersion | DomainError> {
    const absent = preset.absentVersions.get(version);
    if (absent) return absent;
    const key = this.keyOf(preset, version);
    const waitingSinceMs = monotonicMs();
    for (;;) {
      const inFlight = this.#fetches.find(key);
      // A lookup older than the preset's may predate a change: the version may have been created since.
      const sharedFetch =
        inFlight && inFlight.startedAtMs >= preset.askedAtMs
          ? inFlight
          : this.#fetches.start(key, caller, () => this.#call(caller, preset, version));
      await sharedFetch.settled;
      if (!sharedFetch.mustBeRepeatedFor(caller, waitingSinceMs)) return sharedFetch.answer();
    }
  }

  async #call(caller: InferenceCaller, preset: KnownPreset, version: number): Promise<KnownVersion | DomainError> {
    const { slug } = preset.designated.content;
    try {
      const answer = await caller.call((options) =>
        this.#reach.watch(this.#client.getVersion({ slug, version }, options)),
      );
      if (answer.version?.presetId !== preset.id) throw new Error("The preset service answered for another preset");
      const known = new KnownVersion(slug, answer.version);
      this.#entries.set(this.keyOf(preset, version), known);
      return known;
    } catch (error) {
      if (!isOfKind(error, "not_found") || error.reason !== "VERSION_NOT_FOUND") throw error;
      if (preset.absentVersions.size < absentVersionsMax) preset.absentVersions.set(version, error);
      return error;
    }
  }
}
