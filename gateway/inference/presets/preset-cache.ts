import { LRUCache } from "lru-cache";
import type { Preset } from "../../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import { requireWorkspace } from "../../../services/platform/auth/principal.ts";
import type { DomainError } from "../../../services/platform/domain/domain-error.ts";
import type { Metrics } from "../../../services/platform/observe/metrics.ts";
import { monotonicMs } from "../../../services/platform/time/clock.ts";
import type { PresetClient } from "../../clients/preset-client.ts";
import { ServiceReach, settledBy } from "../../clients/service-reach.ts";
import type { DialectName } from "../../dialects/dialect-name.ts";
import type { PreparedPreset } from "../merge/merge.ts";
import { isPresetNotFound } from "../preset-refusals.ts";
import type { PresetReference } from "../request/model-reference.ts";
import type { InferenceCaller } from "./inference-caller.ts";
import { KnownPreset, KnownVersion } from "./known-preset.ts";
import { LookupCounts, type LookupOutcome } from "./lookup-counts.ts";
import { NearestSlugs } from "./nearest-slugs.ts";
import { PinnedVersions } from "./pinned-versions.ts";
import { isAboutCaller, type SharedFetch, SharedFetches } from "./shared-fetches.ts";

/** A preset as an inference request uses it. */
export interface CachedPreset {
  readonly prepared: PreparedPreset;
  /** Whether it may be out of date, because the preset service does not answer. */
  readonly isStale: boolean;
  readonly slug: string;
  readonly version: number;
}

export interface PresetCacheConfig {
  readonly presetCacheBytesMax: number;
  /** How old a preset may be and still be used while the preset service is out of reach; 0: it is not used. */
  readonly presetStaleMaxMs: number;
}

/** A change made elsewhere is seen after this time at the latest, while the preset service answers. */
const freshMs = 1_000;
/** From this age on, a preset is refreshed in the background, so that nobody waits for one that is in use. */
const renewAfterMs = 700;
/** Up to this age, it is used if a fresh answer does not come soon. Later requests then get the fresh answer. */
const usableMs = 10_000;
const soonMs = 100;
/** The preset service counts as out of reach if nothing is heard from it for this long. */
const silenceMaxMs = 500;
/** Concurrent lookups while the service is out of reach. They only serve to find out when it is back. */
const fetchesInOutageMax = 64;
/** Slugs that are cached as missing. Each takes little, but anyone with a key can invent any number of them. */
const absencesMax = 1_000;

type Client = Pick<PresetClient, "getPreset" | "getVersion" | "findSimilarSlug">;

/** One request's search for its preset. */
interface Lookup {
  readonly caller: InferenceCaller;
  readonly reference: PresetReference;
  readonly dialect: DialectName;
  readonly workspaceId: string;
  /** The key of the preset in the cache. */
  readonly key: string;
}

/** The answer to a lookup: the preset, or the error to throw if there is none. */
type Answer = KnownPreset | DomainError;

/**
 * The presets that inference requests use, prepared for merging. They are kept in memory and refreshed while they are
 * in use, so that requests wait neither for the preset service nor for its database, and work without them. The key of
 * an entry includes the workspace of the caller's grant, so nobody sees another workspace's preset.
 */
export class PresetCache {
  readonly #client: Client;
  readonly #staleMaxMs: number;
  readonly #entries: LRUCache<string, KnownPreset | KnownVersion>;
  readonly #absences = new LRUCache<string, { readonly error: DomainError; readonly askedAtMs: number }>({
    max: absencesMax,
  });
  readonly #fetches = new SharedFetches<Answer>();
  readonly #reach = new ServiceReach(silenceMaxMs);
  readonly #pinned: PinnedVersions;
  readonly #nearest: NearestSlugs;
  readonly #counts: LookupCounts;

  constructor(client: Client, { presetCacheBytesMax, presetStaleMaxMs }: PresetCacheConfig, metrics: Metrics) {
    this.#client = client;
    this.#staleMaxMs = presetStaleMaxMs;
    this.#entries = new LRUCache({ maxSize: presetCacheBytesMax, sizeCalculation: ({ bytes }) => bytes });
    this.#pinned = new PinnedVersions(client, this.#reach, this.#entries);
    this.#nearest = new NearestSlugs(client);
    this.#counts = new LookupCounts(metrics, () => this.#entries.calculatedSize);
  }

  /** The preset that a request names. Throws if there is none that may be used. */
  get(caller: InferenceCaller, reference: PresetReference, dialect: DialectName): CachedPreset | Promise<CachedPreset> {
    const workspaceId = requireWorkspace({ workspaceId: caller.principal.workspaceId || undefined });
    const key = keyOf(workspaceId, reference.slug);
    const lookup = { caller, reference, dialect, workspaceId, key };
    const known = this.#find(key);
    if (!known) return this.#getUnknown(lookup);
    const ageMs = monotonicMs() - known.askedAtMs;
    if (known.mayBeOutdated || ageMs >= freshMs) return this.#getOld(lookup, known);
    if (ageMs >= renewAfterMs) this.#fetchAgain(lookup, known);
    return this.#serve(lookup, known, "hit");
  }

  /** Makes a change to a preset or its versions so that the next request through this gateway sees it. */
  async changing(workspaceId: string, slug: string, change: () => Promise<Preset>): Promise<Preset> {
    const key = keyOf(workspaceId, slug);
    const askedAtMs = monotonicMs();
    try {
      const changed = await change();
      this.#useChangeAnswer(key, changed, askedAtMs);
      return changed;
    } finally {
      this.#markOutdated(key);
    }
  }

  /**
   * Uses the answer to a change if the service is out of reach before the preset was looked up again. It may be older
   * than what is cached: a retried change gets its first answer.
   */
  #useChangeAnswer(key: string, changed: Preset, askedAtMs: number): void {
    const known = this.#find(key);
    if (!known) return;
    // A service of the previous release does not say which of them is newer.
    if (!changed.designatedVersion || changed.revision === 0) this.#entries.delete(key);
    else if (changed.revision > known.revision) this.#entries.set(key, new KnownPreset(changed, askedAtMs, known));
  }

  /** After a change that was or may have been made: the preset is looked up before it is used again. */
  #markOutdated(key: string): void {
    this.#fetches.markOutdated(key);
    this.#absences.delete(key);
    const known = this.#find(key);
    if (known) known.mayBeOutdated = true;
  }

  #find(key: string): KnownPreset | undefined {
    // Keys of versions have another form.
    return this.#entries.get(key) as KnownPreset | undefined;
  }

  async #getUnknown(lookup: Lookup): Promise<CachedPreset> {
    const absence = this.#absences.get(lookup.key);
    if (absence && monotonicMs() < absence.askedAtMs + freshMs) throw this.#counted(absence.error);
    return this.#serve(lookup, this.#presentOrThrow(await this.#answerFor(lookup)), "miss");
  }

  async #getOld(lookup: Lookup, known: KnownPreset): Promise<CachedPreset> {
    const renewed = await this.#renewed(lookup, known);
    return this.#serve(lookup, this.#presentOrThrow(renewed), renewed === known ? "stale" : "renewed");
  }

  /** The service's fresh answer; or what was cached, if it does not answer in time. */
  async #renewed(lookup: Lookup, known: KnownPreset): Promise<Answer> {
    const ageMs = monotonicMs() - known.askedAtMs;
    const isUsable = !known.mayBeOutdated && ageMs <= usableMs;
    if (!isUsable && ageMs > this.#staleMaxMs) return this.#answerFor(lookup);

    const waitingSinceMs = monotonicMs();
    for (;;) {
      const sharedFetch = this.#fetchAgain(lookup, known);
      if (!sharedFetch || this.#reach.isOutOfReach) return known;
      if (isUsable) await settledBy(sharedFetch.settled, sharedFetch.startedAtMs + soonMs);
      else await this.#reach.answeredOrOutOfReach(sharedFetch.settled, sharedFetch.startedAtMs);
      if (!sharedFetch.isSettled) return known;
      if (sharedFetch.mustBeRepeatedFor(lookup.caller, waitingSinceMs)) continue;
      try {
        return sharedFetch.answer();
      } catch (error) {
        if (isAboutCaller(error)) throw error;
        return known;
      }
    }
  }

  /** The fresh answer, however long it takes. */
  async #answerFor(lookup: Lookup): Promise<Answer> {
    const waitingSinceMs = monotonicMs();
    for (;;) {
      const sharedFetch = this.#fetches.find(lookup.key) ?? this.#startFetch(lookup);
      await sharedFetch.settled;
      if (!sharedFetch.mustBeRepeatedFor(lookup.caller, waitingSinceMs)) return sharedFetch.answer();
    }
  }

  /**
   * The lookup in flight, or a new one. Undefined while there is no point in asking, because the service does not
   * answer.
   */
  #fetchAgain(lookup: Lookup, known: KnownPreset): SharedFetch<Answer> | undefined {
    const sharedFetch = this.#fetches.find(lookup.key);
    if (sharedFetch) return sharedFetch;
    if (monotonicMs() < known.retryAtMs(lookup.caller)) return undefined;
    if (this.#reach.isOutOfReach && this.#fetches.count >= fetchesInOutageMax) return undefined;
    return this.#startFetch(lookup);
  }

  #startFetch(lookup: Lookup): SharedFetch<Answer> {
    return this.#fetches.start(lookup.key, lookup.caller, (sharedFetch) => this.#fetch(lookup, sharedFetch));
  }

  async #fetch({ caller, reference, key, workspaceId }: Lookup, sharedFetch: SharedFetch<Answer>): Promise<Answer> {
    const { slug } = reference;
    const before = this.#find(key);
    const read = before ? { slug, knownVersionId: before.designated.content.versionId } : { slug };
    try {
      const preset = await caller.call((options) => this.#reach.watch(this.#client.getPreset(read, options)));
      if (preset.workspaceId !== workspaceId) throw new Error("The preset service answered for another workspace");
      const known = new KnownPreset(preset, sharedFetch.startedAtMs, before);
      if (!sharedFetch.isOutdated) this.#entries.set(key, known);
      return known;
    } catch (error) {
      if (isPresetNotFound(error)) {
        if (!sharedFetch.isOutdated) this.#entries.delete(key);
        const refusal = await this.#nearest.refusalOf(slug, caller);
        if (!sharedFetch.isOutdated) this.#absences.set(key, { error: refusal, askedAtMs: sharedFetch.startedAtMs });
        return refusal;
      }
      this.#renewalFailed(key, error, caller);
      throw error;
    }
  }

  #renewalFailed(key: string, error: unknown, caller: InferenceCaller): void {
    const known = this.#find(key);
    if (!known) return;
    this.#counts.renewalFailed();
    known.renewalFailed(caller, isAboutCaller(error));
  }

  #presentOrThrow(answer: Answer): KnownPreset {
    if (answer instanceof KnownPreset) return answer;
    throw this.#counted(answer);
  }

  /** Counts a refusal that is about to be thrown. */
  #counted(error: DomainError): DomainError {
    this.#counts.count("refused");
    return error;
  }

  #serve(lookup: Lookup, known: KnownPreset, outcome: LookupOutcome): CachedPreset | Promise<CachedPreset> {
    const refusal = known.refusal();
    if (refusal) throw this.#counted(refusal);
    const { version } = lookup.reference;
    if (version === undefined || version === known.designated.content.version) {
      return this.#use(lookup, known, known.designated, lookup.key, outcome);
    }
    const key = this.#pinned.keyOf(known, version);
    const pinned = this.#pinned.find(key);
    return pinned
      ? this.#use(lookup, pinned, pinned, key, outcome)
      : this.#servePinned(lookup, known, version, outcome);
  }

  async #servePinned(
    lookup: Lookup,
    known: KnownPreset,
    version: number,
    outcome: LookupOutcome,
  ): Promise<CachedPreset> {
    const pinned = await this.#pinned.fetch(lookup.caller, known, version);
    if (!(pinned instanceof KnownVersion)) throw this.#counted(pinned);
    const key = this.#pinned.keyOf(known, version);
    return this.#use(lookup, pinned, pinned, key, outcome === "hit" ? "miss" : outcome);
  }

  /** `entry` holds the version in the cache, under this key. It grows when the version is prepared for a dialect. */
  #use(
    { dialect, reference: { slug } }: Lookup,
    entry: KnownPreset | KnownVersion,
    version: KnownVersion,
    key: string,
    outcome: LookupOutcome,
  ): CachedPreset {
    let prepared = version.preparedFor(dialect);
    if (!prepared) {
      prepared = version.prepare(dialect);
      // Set again, because the cache measures an entry only when it is added.
      if (this.#entries.peek(key) === entry && this.#entries.delete(key)) this.#entries.set(key, entry);
    }
    this.#counts.count(outcome);
    return { prepared, isStale: outcome === "stale", slug, version: version.content.version };
  }
}

/** Neither an id nor a slug contains a space. */
function keyOf(workspaceId: string, slug: string): string {
  return `${workspaceId} ${slug}`;
}
