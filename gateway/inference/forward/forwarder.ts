import { invalidRequest } from "../../../services/platform/domain/domain-error.ts";
import { type DialectName, dialectNames } from "../../dialects/dialect-name.ts";
import { HttpError } from "../../json/http-error.ts";
import { noUpstreams, unserved } from "../../json/refusal-texts.ts";
import { countsTokens, dialectByCall } from "../calls.ts";
import type { OutgoingRequest } from "../merge/merge.ts";
import type { Upstream, Upstreams } from "../upstreams/upstreams.ts";
import { Deadlines } from "./deadlines.ts";
import type { Candidate, ForwardRequest } from "./forward-request.ts";
import { Forwarding, type ForwardingParts } from "./forwarding.ts";

interface ForwarderParts extends ForwardingParts {
  readonly upstreams: Upstreams;
}

/** Sends requests to upstreams and their answers to clients. */
export class Forwarder {
  readonly #parts: ForwarderParts;
  readonly #deadlines = new Deadlines();

  constructor(parts: ForwarderParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when the answer has begun; the rest of it is sent after that. Rejects if there is no answer: then nothing
   * has been sent to the client yet.
   */
  forward(request: ForwardRequest): Promise<void> {
    const candidates = this.#candidates(request);
    return new Promise((resolve, reject) => {
      new Forwarding(this.#parts, this.#deadlines, request, candidates, resolve, reject).begin();
    });
  }

  /** Ends all answers in flight, so that clients get an error event and are not just cut off. */
  stop(): void {
    this.#deadlines.stop();
  }

  #candidates({ call, outgoing }: ForwardRequest): readonly Candidate[] {
    const dialect = dialectByCall[call];
    const { upstreams } = this.#parts;
    const { model, models } = outgoing;
    const first = upstreams.find(dialect, model);
    // Tokens are counted for one model.
    const takesList = first?.hasNativeFallbacks && !countsTokens(call);
    if (first && (models.length === 0 || takesList)) return [candidateWithList(first, outgoing)];
    const names = [...new Set([model, ...models])];
    if (names.length > triedMax) throw invalidRequest([{ path: "models", message: tooMany }]);
    // All at once: creating them one by one would save nothing, because they share the pieces of the body.
    const candidates = names.flatMap((each) => {
      const upstream = each === model ? first : upstreams.find(dialect, each);
      if (!upstream) return [];
      const modelOfUpstream = upstream.modelFor(each);
      return { upstream, name: each, model: modelOfUpstream, parts: outgoing.withModel(modelOfUpstream) };
    });
    if (candidates.length > 0) return candidates;
    throw noUpstream(dialect, model, upstreams);
  }
}

/** So that one request does not become thousands, each of which may be billed. */
const triedMax = 16;
const tooMany = `must name at most ${triedMax} models, which are tried one by one`;

/** For an upstream that tries all models of the list itself. */
function candidateWithList(upstream: Upstream, outgoing: OutgoingRequest): Candidate {
  const nameOf = (each: string) => upstream.modelFor(each);
  const { model: name, models } = outgoing;
  const isUnchanged = nameOf(name) === name && models.every((each) => nameOf(each) === each);
  return { upstream, name, model: nameOf(name), parts: isUnchanged ? outgoing.parts : outgoing.renamed(nameOf) };
}

function noUpstream(dialect: DialectName, model: string, upstreams: Upstreams): HttpError {
  if (upstreams.list().length === 0) return new HttpError(404, noUpstreams);
  const name = model.length > 100 ? `${model.slice(0, 100)}…` : model;
  const others = dialectNames.filter((each) => upstreams.find(each, model) !== undefined);
  return new HttpError(404, unserved(name, dialect, others));
}
