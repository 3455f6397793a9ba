import type { BatchObserver } from "../../platform/batching/batch-observer.ts";
import { Batcher } from "../../platform/batching/batcher.ts";
import { canceled, isOfKind } from "../../platform/domain/domain-error.ts";
import { TransientMap } from "../../platform/memory/transient-map.ts";
import type { Caller } from "../../platform/mysql/caller.ts";
import type { CommitUnknown } from "../../platform/mysql/errors.ts";
import type { Pool } from "../../platform/mysql/pool.ts";
import { outcomeUnknown, unknownCommitOf } from "../../platform/mysql/refusals.ts";
import { hasGivenUp } from "../../platform/time/deadline.ts";
import type { NewVersion } from "../domain/new-version.ts";
import { presetKey, type ServedPreset } from "../domain/preset.ts";
import { LockedPresets } from "./locked-presets.ts";
import { writeVersions } from "./write-versions.ts";

const writersMax = 2;

interface BatchOptions {
  readonly batchByWorkspace: boolean;
  readonly observer?: BatchObserver;
}

const policy = {
  countMax: 32,
  /** Well below the default packet limit of a server (16 MiB). */
  bytesMax: 4 * 1024 * 1024,
  batchesMax: writersMax,
  waitingMax: 10_000,
  waitingBytesMax: 64 * 1024 * 1024,
  bytesOf: sizeOf,
  laneOf: presetKey,
  expiresRunning: false,
};

/**
 * Stores versions by group commit: while a batch is being written, arrivals queue for the next one, so a lone creation is
 * an ordinary transaction and a crowd shares one. An answer is given only after its commit.
 *
 * The writers of one process never wait for each other's row locks: a preset is in one batch at a time.
 */
export class VersionWriter {
  /** It cannot use more than this. */
  static readonly connectionsMax = writersMax;

  readonly #batcher: Batcher<NewVersion, ServedPreset>;
  readonly #inFlight = new TransientMap<string, Promise<ServedPreset>>();

  constructor(pool: Pool, { batchByWorkspace, observer }: BatchOptions) {
    const lockedPresets = new LockedPresets();
    const groupOf = (creation: NewVersion): string => {
      // If a row is locked for long, its creations get batches of their own, so that nobody else waits for it.
      if (lockedPresets.has(creation)) return presetKey(creation);
      return batchByWorkspace ? creation.workspaceId : "";
    };
    this.#batcher = new Batcher({ ...policy, observer, groupOf }, (parts) => writeVersions(pool, lockedPresets, parts));
  }

  /**
   * Stores one version and returns the preset as this creation left it.
   * A request id that was stored before returns the first answer.
   */
  async createVersion(creation: NewVersion, caller: Caller): Promise<ServedPreset> {
    const request = `${creation.workspaceId}/${creation.requestId}`;
    let unknown: CommitUnknown | undefined;
    // A retry of a request in flight waits for it, and then finds it stored, or stores it itself.
    for (let first = this.#inFlight.get(request); first; first = this.#inFlight.get(request)) {
      const failure = await first.then(() => undefined).catch((error: unknown) => error);
      if (caller.isCanceled()) throw canceled();
      // The first may have stored it, so a retry that is out of time must not report that nothing was stored.
      if (hasGivenUp(caller)) throw outcomeUnknown(failure);
      unknown ??= unknownCommitOf(failure);
    }
    const stored = this.#batcher
      .submit(creation, caller)
      .catch((error: unknown) => {
        // The commit of the first may be the reason, and may yet be carried out.
        throw unknown && isOfKind(error, "aborted", "deadline_exceeded", "unavailable")
          ? outcomeUnknown(unknown)
          : error;
      })
      .finally(() => this.#inFlight.delete(request));
    this.#inFlight.set(request, stored);
    return stored;
  }
}

/** In UTF-16 units, which is close enough. */
function sizeOf({ configJson, systemPrompt = "" }: NewVersion): number {
  return configJson.length + systemPrompt.length;
}
