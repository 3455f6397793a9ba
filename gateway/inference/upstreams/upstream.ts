import type { DialectName } from "../../dialects/dialect-name.ts";
import { type CallName, callNames } from "../calls.ts";
import type { Connections } from "./connections.ts";
import { type HiddenSecret, hiddenSecrets } from "./hidden-secret.ts";
import type { UpstreamTimeouts } from "./upstream-timeouts.ts";
import type { UpstreamDefinition } from "./upstreams-file.ts";

/** Names of headers, and of parameters of an address, whose values are secrets. */
const secretNames = /(?:auth|authorization|cookie|credential|key|password|secret|token)$/i;

/** A server that requests are sent to. */
export class Upstream {
  readonly connections: Connections;
  readonly #definition: UpstreamDefinition;
  readonly #paths: ReadonlyMap<CallName, string>;
  #secret: string | undefined;
  #hiddenSecrets: readonly HiddenSecret[];

  constructor(definition: UpstreamDefinition, connections: Connections, secret: string | undefined) {
    this.#definition = definition;
    this.connections = connections;
    this.#secret = secret;
    this.#hiddenSecrets = hiddenSecrets(secretsOf(definition, secret));
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

  /** What no answer may show. */
  get hiddenSecrets(): readonly HiddenSecret[] {
    return this.#hiddenSecrets;
  }

  /** Only for the table, when the file of a secret has changed. */
  setSecret(secret: string): void {
    this.#secret = secret;
    this.#hiddenSecrets = hiddenSecrets(secretsOf(this.#definition, secret));
  }

  /** Only for the table. */
  get definition(): UpstreamDefinition {
    return this.#definition;
  }
}

/** The credential, and the words of what the table itself holds where secrets are expected, such as in authorization. */
function secretsOf({ headers, baseUrl }: UpstreamDefinition, credential: string | undefined): string[] {
  const named = [...Object.entries(headers), ...baseUrl.searchParams].filter(([name]) => secretNames.test(name));
  return [credential ?? "", ...named.flatMap(([, value]) => value.split(/\s+/))];
}

function matches(pattern: string, model: string): boolean {
  return pattern.endsWith("*") ? model.startsWith(pattern.slice(0, -1)) : model === pattern;
}
