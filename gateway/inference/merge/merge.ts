import type { DialectName } from "../../dialects/dialect-name.ts";
import type { RequestBody } from "../request/request-body.ts";
import { type MergePlan, planMerge } from "./plan.ts";
import type { PreparedPreset } from "./prepared-preset.ts";
import type { Provenance } from "./provenance.ts";
import { provenanceOf } from "./provenance-of.ts";
import { writeBody } from "./write-body.ts";

export { narrowedPreset } from "./narrowed-preset.ts";
export { type PreparedPreset, preparePreset } from "./prepared-preset.ts";

/** A request as it is sent to an upstream. */
export interface OutgoingRequest {
  /** The body in pieces. Unchanged parts are slices of the request's own bytes. */
  readonly parts: readonly Buffer[];
  /** The first model to use. Never empty. */
  readonly model: string;
  /** The list of models as it was sent, which may or may not name `model`, too; empty if there is none. */
  readonly models: readonly string[];
  readonly isStreamed: boolean;
  /** The body with only this model, without `models`. */
  withModel(model: string): readonly Buffer[];
  /** The body with other names for all of its models. */
  renamed(nameOf: (model: string) => string): readonly Buffer[];
  /** Computed only on demand. */
  provenance(): Provenance;
}

interface MergeOptions {
  /** Whether the request names the version of its preset. */
  readonly pinned: boolean;
  /** Whether the request's own system prompt, if it has one, replaces the preset's. */
  readonly replaceSystemPrompt: boolean;
}

/**
 * Merges a preset into a request. For each top-level field the request wins, and what it does not send comes from the
 * preset. Tools are combined, and the preset's system prompt comes before the request's own. Throws an invalid request
 * if that cannot be done, or if no model is named.
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
    // One of the two always exists.
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
    return this.#with({ model, models: undefined });
  }

  renamed(nameOf: (model: string) => string): readonly Buffer[] {
    const { model, models } = this.#plan.models;
    return this.#with({
      model: model === undefined ? undefined : nameOf(model),
      models: models.length === 0 ? undefined : models.map(nameOf),
    });
  }

  /** The body with these members; an undefined one is left out. */
  #with(members: Readonly<Record<"model" | "models", unknown>>): readonly Buffer[] {
    const { body } = this.#plan;
    const changes = new Map(this.#plan.changes);
    const added = new Map(this.#plan.added);
    for (const [key, value] of Object.entries(members)) {
      const json = value === undefined ? undefined : Buffer.from(JSON.stringify(value));
      if (body.has(key)) changes.set(key, json && [json]);
      else if (json) added.set(key, [Buffer.from(`"${key}":`), json]);
      else added.delete(key);
    }
    return writeBody({ body, changes, added });
  }

  provenance(): Provenance {
    return provenanceOf(this.#plan, this.#pinned);
  }
}

const letterT = 0x74;
