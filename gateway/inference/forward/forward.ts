import type { FastifyReply } from "fastify";
import { invalidRequest } from "../../../services/platform/domain/domain-error.ts";
import type { Logger } from "../../../services/platform/observe/logger.ts";
import type { DialectName } from "../../dialects/dialect-name.ts";
import { HttpError } from "../../json/errors.ts";
import type { InferenceMetrics } from "../inference-metrics.ts";
import type { Upstream, UpstreamCaller, Upstreams } from "../upstreams/upstreams.ts";
import { Deadlines } from "./deadlines.ts";
import { Forwarding } from "./forwarding.ts";
import type { StalledAnswers } from "./stalled-answers.ts";
import type { UsedPreset } from "./upstream-span.ts";

/** A request as it is to be sent. */
export interface Outgoing {
  /** What is sent, in pieces. */
  readonly parts: readonly Buffer[];
  readonly byteLength: number;
  readonly model: string;
  /** Fallbacks, as listed: with or without `model`; empty where there is no list. */
  readonly models: readonly string[];
  readonly isStreamed: boolean;
  /** The same with another model and without a list of fallbacks. */
  withModel(model: string): readonly Buffer[];
}

/** What is to be forwarded, for whom. */
export interface ForwardRequest {
  readonly reply: FastifyReply;
  readonly dialect: DialectName;
  readonly outgoing: Outgoing;
  readonly caller: UpstreamCaller;
  /** Where the client asked how its request was made: JSON of one line, in ASCII. */
  readonly explanation: string | undefined;
  /** What it was made with. */
  readonly preset: UsedPreset | undefined;
}

/** A model of the list, and who serves it. */
export interface Candidate {
  readonly upstream: Upstream;
  /** As the upstream is told. */
  readonly model: string;
  readonly parts: readonly Buffer[];
}

export interface ForwarderParts {
  readonly upstreams: Upstreams;
  readonly metrics: InferenceMetrics;
  readonly logger: Logger;
  readonly stalled: StalledAnswers;
  readonly isDraining: () => boolean;
  /** Records the outcome of an exchange that cannot be told to its client by a status. */
  readonly settle: (reply: FastifyReply, status: number) => void;
}

/** Sends requests to upstreams and their answers to clients. */
export class Forwarder {
  readonly #parts: ForwarderParts;
  readonly #deadlines = new Deadlines();

  constructor(parts: ForwarderParts) {
    this.#parts = parts;
  }

  /**
   * Settles when the answer has begun; the rest of it is sent behind that. Rejects where there is none to send: then the
   * client has got nothing yet.
   */
  forward(request: ForwardRequest): Promise<void> {
    const candidates = this.#candidates(request);
    return new Promise((resolve, reject) => {
      new Forwarding(this.#parts, this.#deadlines, request, candidates, resolve, reject).begin();
    });
  }

  /** Ends all answers that are under way, so that clients are told and not just cut off. */
  stop(): void {
    this.#deadlines.stop();
  }

  #candidates({ dialect, outgoing }: ForwardRequest): readonly Candidate[] {
    const { upstreams } = this.#parts;
    const { model, models } = outgoing;
    const first = upstreams.find(dialect, model);
    if (first && (models.length === 0 || first.hasNativeFallbacks)) return [candidate(first, outgoing, model)];
    const names = [...new Set([model, ...models])];
    if (names.length > triedMax) throw invalidRequest([{ path: "models", message: tooMany }]);
    // Made one by one as they are needed would save nothing: they share the pieces of the body.
    const candidates = names.flatMap((each) => {
      const upstream = each === model ? first : upstreams.find(dialect, each);
      if (!upstream) return [];
      const name = upstream.modelFor(each);
      return { upstream, model: name, parts: outgoing.withModel(name) };
    });
    if (candidates.length > 0) return candidates;
    throw noUpstream(dialect, model, upstreams.list().length > 0);
  }
}

/** So that one request is not thousands of an upstream's: each of them may be billed. */
const triedMax = 16;
const tooMany = `must name at most ${triedMax} models, which are tried one by one`;

function candidate(upstream: Upstream, outgoing: Outgoing, model: string): Candidate {
  const name = upstream.modelFor(model);
  return { upstream, model: name, parts: name === model ? outgoing.parts : outgoing.withModel(name) };
}

function noUpstream(dialect: DialectName, model: string, isAnyThere: boolean): HttpError {
  if (!isAnyThere) {
    return new HttpError(404, "This gateway has no upstreams to send requests to. Its operator sets UPSTREAMS_FILE.");
  }
  const name = model.length > 100 ? `${model.slice(0, 100)}…` : model;
  return new HttpError(
    404,
    `No upstream serves the model ${name} in ${dialect}. GET /api/v1/models lists what there is.`,
  );
}
