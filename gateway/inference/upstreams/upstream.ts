import type { DialectName } from "../../dialects/dialect-name.ts";
import { type CallName, callNames } from "../calls.ts";
import type { Connections } from "./connections.ts";
import { HiddenSecret } from "./hidden-secret.ts";
import type { UpstreamTimeouts } from "./upstream-timeouts.ts";
import type { UpstreamDefinition } from "./upstreams-file.ts";

/**
 * Anything shorter is not treated as a secret: servers that check none are given any word, which may also occur in an
 * error.
 */
const secretLengthMin = 16;

/** A server that requests are sent to. */
export class Upstream {
  readonly connections: Connections;
  readonly #definition: UpstreamDefinition;
  readonly #paths: ReadonlyMap<CallName, string>;
  #secret: string | undefined;
  #hiddenSecret: HiddenSecret | undefined;

  constructor(definition: UpstreamDefinition, connections: Connections, secret: string | undefined) {
    this.#definition = definition;
    this.connections = connections;
    if (secret !== undefined) this.setSecret(secret);
    const { pathname, search } = definition.baseUrl;
    const path = pathname.replace(/\/+$/, "");
    this.#paths = new Map(callNames.map((call) => [call, `${path}/${call}${search}`]));
  }

  get name(): string {
    return this.#definition.name;
  }

  get baseUrl(): URL {
    return this.#definition.baseUrl;
  }

  get dialects(): readonly DialectName[] {
    return this.#definition.dialects;
  }

  /** The patterns of the models that it serves. */
  get models(): readonly string[] {
    return this.#definition.models;
  }

  get timeouts(): UpstreamTimeouts {
    return this.#definition.timeouts;
  }

  get hasNativeFallbacks(): boolean {
    return this.#definition.hasNativeFallbacks;
  }

  get mayRetryAny(): boolean {
    return this.#definition.mayRetryAny;
  }

  /** Whether it is at its concurrency limit. */
  get isFull(): boolean {
    return this.connections.inFlight >= this.concurrencyMax;
  }

  get concurrencyMax(): number {
    return this.#definition.concurrencyMax ?? Number.POSITIVE_INFINITY;
  }

  /** The operator's own headers, which no client can change. */
  get headers(): Readonly<Record<string, string>> {
    return this.#definition.headers;
  }

  serves(dialect: DialectName, model: string): boolean {
    return this.dialects.includes(dialect) && this.servesModel(model);
  }

  /** Whether it serves the model in any dialect. */
  servesModel(model: string): boolean {
    return this.models.some((pattern) => matches(pattern, model));
  }

  pathOf(call: CallName): string {
    return this.#paths.get(call) as string;
  }

  /** The name that the upstream itself has for a model. */
  modelFor(model: string): string {
    const { stripPrefix } = this.#definition;
    return model.length > stripPrefix.length && model.startsWith(stripPrefix) ? model.slice(stripPrefix.length) : model;
  }

  /** The header that authenticates us to the upstream. Nothing else knows the secret. */
  get credential(): readonly [name: string, value: string] | undefined {
    const { credential } = this.#definition;
    return credential && this.#secret !== undefined ? [credential.header, credential.prefix + this.#secret] : undefined;
  }

  /** The part of the credential that no answer may show; undefined if there is nothing to hide. */
  get hiddenSecret(): HiddenSecret | undefined {
    return this.#hiddenSecret;
  }

  /** Only for the table, when the file of a secret has changed. */
  setSecret(secret: string): void {
    this.#secret = secret;
    this.#hiddenSecret = secret.length < secretLengthMin ? undefined : new HiddenSecret(secret);
  }

  /** Only for the table. */
  get definition(): UpstreamDefinition {
    return this.#definition;
  }
}

function matches(pattern: string, model: string): boolean {
  return pattern.endsWith("*") ? model.startsWith(pattern.slice(0, -1)) : model === pattern;
}
