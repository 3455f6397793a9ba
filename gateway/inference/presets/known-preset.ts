import type { Preset, PresetStatus, PresetVersion } from "../../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import type { DomainError } from "../../../services/platform/domain/domain-error.ts";
import { monotonicMs } from "../../../services/platform/time/clock.ts";
import type { DialectName } from "../../dialects/dialect-name.ts";
import { type PreparedPreset, preparePreset } from "../merge/merge.ts";
import { contentOf, type PresetContent } from "../preset-content.ts";
import { refusalOf } from "../preset-refusals.ts";
import type { FetchCaller } from "./shared-fetches.ts";

/** How long to wait before a failed lookup is repeated. */
const retryMs = 1_000;

/** The approximate size of an entry in addition to its texts. */
const entryBytes = 1024;

/** The content of one version, which never changes, prepared for the dialects that it is used in. */
export class KnownVersion {
  readonly content: PresetContent;
  readonly #prepared: { [Name in DialectName]?: PreparedPreset } = {};
  #bytes: number;

  constructor(slug: string, version: PresetVersion) {
    this.content = contentOf(slug, version);
    this.#bytes = entryBytes + textBytes(version.configJson) + textBytes(version.systemPrompt ?? "");
  }

  get bytes(): number {
    return this.#bytes;
  }

  preparedFor(dialect: DialectName): PreparedPreset | undefined {
    return this.#prepared[dialect];
  }

  prepare(dialect: DialectName): PreparedPreset {
    const prepared = preparePreset(this.content, dialect);
    this.#prepared[dialect] = prepared;
    this.#bytes += prepared.bytes;
    return prepared;
  }
}

/** What the preset service said about a preset. */
export class KnownPreset {
  readonly id: string;
  readonly designated: KnownVersion;
  /** When the lookup was made, by the monotonic clock. The data is at least as new as that. */
  readonly askedAtMs: number;
  /** Grows with every change. 0 if the service is of a release that does not report it. */
  readonly revision: number;
  readonly #status: PresetStatus;
  /** Whether it may have been changed since: then it is looked up before it is used again. */
  mayBeOutdated = false;
  #retryAtMs = Number.NEGATIVE_INFINITY;
  #retryWithStaleGrantAtMs = Number.NEGATIVE_INFINITY;
  /** Versions that it does not have, with the errors to throw. As short-lived as the rest. */
  readonly absentVersions = new Map<number, DomainError>();

  /**
   * If the version known before is still the designated one, it is reused: then the answer came without its content.
   */
  constructor(preset: Preset, askedAtMs: number, before: KnownPreset | undefined) {
    const { id, slug, status, designatedVersion, revision } = preset;
    if (!designatedVersion) throw new Error("The preset service answered without a designated version");
    this.id = id;
    this.askedAtMs = askedAtMs;
    this.revision = revision;
    this.#status = status;
    this.designated =
      before?.designated.content.versionId === designatedVersion.id
        ? before.designated
        : new KnownVersion(slug, designatedVersion);
  }

  get bytes(): number {
    return entryBytes + this.designated.bytes;
  }

  /** When to look it up again after a failure. */
  retryAtMs({ isStale }: FetchCaller): number {
    return isStale ? Math.max(this.#retryAtMs, this.#retryWithStaleGrantAtMs) : this.#retryAtMs;
  }

  /** A refusal of one caller says nothing about others, unless the grants of both have expired. */
  renewalFailed({ isStale }: FetchCaller, isAboutCaller: boolean): void {
    const retryAtMs = monotonicMs() + retryMs;
    if (!isAboutCaller) this.#retryAtMs = retryAtMs;
    else if (isStale) this.#retryWithStaleGrantAtMs = retryAtMs;
  }

  /** Why it may not be used now; undefined if it may. */
  refusal(): DomainError | undefined {
    return refusalOf({ slug: this.designated.content.slug, status: this.#status });
  }
}

/** The size of a text in memory: two bytes for each character, unless all of them are Latin-1. */
function textBytes(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;
}
