import type { FastifyReply } from "fastify";
import type { DialectName } from "../../dialects/dialect-name.ts";
import type { OutgoingRequest } from "../merge/merge.ts";
import type { Upstream } from "../upstreams/upstreams.ts";
import type { UsedPreset } from "./upstream-span.ts";

/** What is to be forwarded, for whom. */
export interface ForwardRequest {
  readonly reply: FastifyReply;
  readonly dialect: DialectName;
  readonly outgoing: OutgoingRequest;
  /** Where the client asked how its request was made: JSON of one line, in ASCII. */
  readonly explanation: string | undefined;
  /** What it was made with. */
  readonly preset: UsedPreset | undefined;
}

/** A model of the list, and who serves it. */
export interface Candidate {
  readonly upstream: Upstream;
  /** As the request names it. */
  readonly name: string;
  /** As the upstream is told. */
  readonly model: string;
  readonly parts: readonly Buffer[];
}
