import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Metrics } from "../../services/platform/observe/metrics.ts";
import type { GatewayConfig } from "../config.ts";
import { rateLimitHeaders, tooManyRequests } from "../json/http-error.ts";
import { waitAsTold } from "../json/refusal-texts.ts";
import { TrustedProxies } from "./client-address.ts";
import { InFlight, type InFlightCaller } from "./in-flight.ts";
import { largeTextAsBytes } from "./payload.ts";
import { RefusedKeys } from "./refused-keys.ts";
import { type RateLimit, TokenBuckets } from "./token-buckets.ts";

type LimitsConfig = Pick<
  GatewayConfig,
  | "bodyBytesMax"
  | "inFlightBytesMax"
  | "keyCacheMax"
  | "keyRateLimit"
  | "keyRequestsMax"
  | "refusedKeyRateLimit"
  | "trustedProxies"
>;

/** What is known about a valid key. */
interface KeyGrant {
  readonly principal: InFlightCaller;
  readonly rateLimit: RateLimit | undefined;
}

/** The limits of a caller in this process. In a cluster, each gateway counts on its own. */
export class Limits {
  readonly refusedKeys: RefusedKeys;
  readonly #inFlight: InFlight;
  readonly #keyRateLimit: RateLimit | undefined;
  readonly #keyBuckets: TokenBuckets;
  readonly #metrics: Metrics;

  constructor(config: LimitsConfig, metrics: Metrics) {
    this.refusedKeys = new RefusedKeys(config.refusedKeyRateLimit, new TrustedProxies(config.trustedProxies), metrics);
    this.#inFlight = new InFlight(config, metrics);
    this.#keyRateLimit = config.keyRateLimit;
    this.#keyBuckets = new TokenBuckets(config.keyCacheMax);
    this.#metrics = metrics;
  }

  /** Counts bodies and answers from here on. */
  watch(app: FastifyInstance): void {
    app.decorateRequest("memory", undefined);
    app.addHook("preParsing", (request, _reply, body, done) => done(null, this.#inFlight.countBody(request, body)));
    app.addHook("onSend", (request, reply, payload, done) => {
      const refusal = this.#inFlight.admitAnswer(request, reply, payload);
      refusal ? done(refusal) : done(null, largeTextAsBytes(payload));
    });
  }

  /** The rate limit of a key here. It may have a limit of its own. */
  rateLimitOf({ rateLimit }: KeyGrant): RateLimit | undefined {
    return rateLimit ?? this.#keyRateLimit;
  }

  /** Admits a request whose key is valid, or throws. */
  admit(request: FastifyRequest, reply: FastifyReply, grant: KeyGrant): void {
    const { keyId } = grant.principal;
    const limit = this.rateLimitOf(grant);
    if (limit) this.#takeToken(reply, keyId, limit);
    this.#inFlight.admit(request, grant.principal);
  }

  #takeToken(reply: FastifyReply, keyId: string, limit: RateLimit): void {
    const isGranted = this.#keyBuckets.take(keyId, limit);
    const allowance = this.#keyBuckets.allowance(keyId, limit);
    if (!isGranted) {
      this.#metrics.refused("key_rate");
      throw tooManyRequests(`This key is over its rate limit. ${waitAsTold}`, allowance);
    }
    reply.headers(rateLimitHeaders(allowance));
  }
}
