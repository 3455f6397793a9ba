import type { DialectName } from "../../dialects/dialect-name.ts";
import type { RequestBody } from "../request/request-body.ts";
import { type MergePlan, planMerge } from "./plan.ts";
import type { PreparedPreset } from "./prepared-preset.ts";
import type { Provenance } from "./provenance.ts";
import { provenanceOf } from "./provenance-of.ts";
import { writeBody } from "./write-body.ts";

export { type PreparedPreset, preparePreset } from "./prepared-preset.ts";

/** A request as it goes to an upstream. */
export interface OutgoingRequest {
  /** What is sent, in pieces. What is not touched is a piece of the request's own bytes. */
  readonly parts: readonly Buffer[];
  /** The first model to use. Never empty. */
  readonly model: string;
  /** Fallbacks, as listed: with or without `model`; empty where there is no list. */
  readonly models: readonly string[];
  readonly isStreamed: boolean;
  /** The same with this model alone, without `models`. */
  withModel(model: string): readonly Buffer[];
  /** Made only when it is asked for. */
  provenance(): Provenance;
}

export interface MergeOptions {
  /** Whether the request names the version of its preset. */
  readonly pinned: boolean;
  /** Whether a system prompt of the request's own stands alone, in place of the preset's. */
  readonly replaceSystemPrompt: boolean;
}

/**
 * Merges a preset into a request. Shallow: the request wins field by field, and what it does not send comes from the
 * preset. Tools are united, and the system prompt of the preset stands ahead of the request's own. Throws an invalid
 * request where that cannot be done, or where no model is named.
 */
export function mergeRequest(
  body: RequestBody,
  preset: PreparedPreset | undefined,
  dialect: DialectName,
  options: MergeOptions,
): OutgoingRequest {
  return new Merged(planMerge(body, preset, dialect, options.replaceSystemPrompt), options.pinned);
}

class Merged implements OutgoingRequest {
  readonly model: string;
  readonly models: readonly string[];
  readonly #plan: MergePlan;
  readonly #pinned: boolean;
  #parts: readonly Buffer[] | undefined;

  constructor(plan: MergePlan, pinned: boolean) {
    this.#plan = plan;
    this.#pinned = pinned;
    const { model, models } = plan.models;
    // One of the two is there.
    this.model = model ?? (models[0] as string);
    this.models = models;
  }

  get isStreamed(): boolean {
    const { body } = this.#plan;
    const stream = body.sent("stream");
    return stream !== undefined && body.bytes[stream.valueStart] === letterT;
  }

  get parts(): readonly Buffer[] {
    this.#parts ??= writeBody(this.#plan);
    return this.#parts;
  }

  withModel(model: string): readonly Buffer[] {
    const { body, changes, added } = this.#plan;
    const name = Buffer.from(JSON.stringify(model));
    const otherChanges = new Map(changes).set("models", undefined);
    const otherAdded = new Map(added);
    otherAdded.delete("models");
    if (body.has("model")) otherChanges.set("model", [name]);
    else otherAdded.set("model", [modelKey, name]);
    return writeBody({ body, changes: otherChanges, added: otherAdded });
  }

  provenance(): Provenance {
    return provenanceOf(this.#plan, this.#pinned);
  }
}

const letterT = 0x74;
const modelKey = Buffer.from('"model":');
