import type { DomainError } from "../../../services/platform/domain/domain-error.ts";
import { monotonicMs } from "../../../services/platform/time/clock.ts";
import type { PresetClient } from "../../clients/preset-client.ts";
import { presetNotFound } from "../preset-refusals.ts";
import type { InferenceCaller } from "./inference-caller.ts";

/** A hint is not worth a longer wait, and whoever asks for many slugs that do not exist needs no hints. */
const timeoutMs = 500;
const inFlightMax = 8;

/** Finds the slug that was most likely meant by one that does not exist. */
export class NearestSlugs {
  readonly #client: Pick<PresetClient, "findSimilarSlug">;
  #inFlight = 0;

  constructor(client: Pick<PresetClient, "findSimilarSlug">) {
    this.#client = client;
  }

  async refusalOf(slug: string, caller: InferenceCaller): Promise<DomainError> {
    if (this.#inFlight >= inFlightMax) return presetNotFound(slug);
    this.#inFlight += 1;
    try {
      const nearest = await caller.call((options) =>
        this.#client.findSimilarSlug(
          { slug },
          { ...options, deadlineMs: Math.min(options.deadlineMs, monotonicMs() + timeoutMs) },
        ),
      );
      return presetNotFound(slug, nearest.slug || undefined);
    } catch {
      return presetNotFound(slug);
    } finally {
      this.#inFlight -= 1;
    }
  }
}
