import type { FastifyReply } from "fastify";
import type { CallName } from "../calls.ts";
import type { OutgoingRequest } from "../merge/merge.ts";
import type { Upstream } from "../upstreams/upstreams.ts";
import type { UsedPreset } from "./upstream-span.ts";

/** A request to be forwarded to an upstream. */
export interface ForwardRequest {
  readonly reply: FastifyReply;
  readonly call: CallName;
  readonly outgoing: OutgoingRequest;
  /** The provenance of the request, in one line of ASCII; undefined if the client does not ask for it. */
  readonly explanation: string | undefined;
  /** The preset that was merged into it. */
  readonly preset: UsedPreset | undefined;
}

/** A model that may answer the request, and the upstream that serves it. */
export interface Candidate {
  readonly upstream: Upstream;
  /** As the request names it. */
  readonly name: string;
  /** As the upstream names it. */
  readonly model: string;
  readonly parts: readonly Buffer[];
}
