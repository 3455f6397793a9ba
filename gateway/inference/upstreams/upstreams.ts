import { readFile } from "node:fs/promises";
import type { Logger } from "../../../services/platform/observe/logger.ts";
import { ConfigError, type Environment } from "../../../services/platform/process/environment.ts";
import type { DialectName } from "../../dialects/dialect-name.ts";
import { Connections } from "./connections.ts";
import { CredentialFault, readCredential } from "./credentials.ts";
import { Upstream } from "./upstream.ts";
import { parseUpstreams, type UpstreamDefinition, UpstreamsFileError } from "./upstreams-file.ts";

export type { Upstream } from "./upstream.ts";

interface UpstreamsParts {
  /** Undefined: there are no upstreams. */
  readonly file: string | undefined;
  readonly environment: Environment;
  readonly logger: Logger;
  /** Whether the file, as it is now, can be used. */
  readonly onCheck: (isGood: boolean) => void;
}

/**
 * How often the file is read. Its content is compared, because Kubernetes changes it by swapping a symbolic link above
 * it.
 */
const pollMs = 1_000;

/** The operator's table of upstreams: as the file has it now or, if that is faulty, as it last was. */
export class Upstreams {
  readonly #parts: UpstreamsParts;
  #upstreams: readonly Upstream[] = [];
  /** The table in use. */
  #text: string | undefined;
  #fault: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  private constructor(parts: UpstreamsParts) {
    this.#parts = parts;
  }

  /** Throws a ConfigError where the file cannot be used. */
  static async open(parts: UpstreamsParts): Promise<Upstreams> {
    const upstreams = new Upstreams(parts);
    const { file } = parts;
    if (file === undefined) return upstreams;
    try {
      await upstreams.#readTable(file);
    } catch (error) {
      throw new ConfigError(faultsOf(error).map((fault) => `UPSTREAMS_FILE ${file}: ${fault}`));
    }
    parts.onCheck(true);
    upstreams.#pollAfterwards(file);
    return upstreams;
  }

  /** The first that serves the model in the dialect. */
  find(dialect: DialectName, model: string): Upstream | undefined {
    return this.#upstreams.find((upstream) => upstream.serves(dialect, model));
  }

  list(): readonly Upstream[] {
    return this.#upstreams;
  }

  /** Cuts what is still in flight. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { connections } of this.#upstreams) connections.destroy();
  }

  #pollAfterwards(file: string): void {
    const timer = setTimeout(async () => {
      await this.#check(file);
      // Unless it was closed meanwhile.
      if (this.#timer === timer) this.#pollAfterwards(file);
    }, pollMs).unref();
    this.#timer = timer;
  }

  async #check(file: string): Promise<void> {
    const { logger, onCheck } = this.#parts;
    const faults = new Set<string>();
    const note = (error: unknown) => {
      for (const each of faultsOf(error)) faults.add(each);
    };
    await this.#readTable(file).catch(note);
    // Even if the table is faulty, or the secret of another: after a rotation, the ones in use are about to be revoked.
    for (const upstream of this.#upstreams) await this.#readSecret(upstream).catch(note);
    const fault = faults.size > 0 ? [...faults].join("; ") : undefined;
    if (fault !== undefined && fault !== this.#fault) {
      logger.error({ file, fault }, "the upstreams file cannot be used; the last good one stays");
    } else if (fault === undefined && this.#fault !== undefined) {
      logger.info({ file }, "the upstreams file can be used again");
    }
    this.#fault = fault;
    onCheck(fault === undefined);
  }

  async #readTable(file: string): Promise<void> {
    const text = await readFile(file, "utf8");
    if (text === this.#text) return;
    const definitions = parseUpstreams(text);
    const secrets = await Promise.all(definitions.map((definition, index) => this.#secretOf(definition, index)));
    const earlier = new Map(this.#upstreams.map((upstream) => [upstream.name, upstream]));
    this.#upstreams = definitions.map((definition, index) => {
      const before = earlier.get(definition.name);
      const isKept = before !== undefined && hasSameConnections(before.definition, definition);
      if (isKept) earlier.delete(definition.name);
      const connections = isKept
        ? before.connections
        : new Connections(definition.baseUrl.origin, definition.timeouts.connectMs);
      return new Upstream(definition, connections, secrets[index]);
    });
    this.#text = text;
    for (const { connections } of earlier.values()) connections.retire();
    this.#parts.logger.info({ file, upstreams: definitions.map(({ name }) => name) }, "upstreams");
  }

  async #readSecret(upstream: Upstream): Promise<void> {
    if (upstream.definition.credential?.file === undefined) return;
    const secret = await this.#secretOf(upstream.definition, this.#upstreams.indexOf(upstream));
    if (secret !== undefined) upstream.setSecret(secret);
  }

  async #secretOf({ credential }: UpstreamDefinition, index: number): Promise<string | undefined> {
    if (!credential) return undefined;
    try {
      return await readCredential(credential, this.#parts.environment);
    } catch (error) {
      if (!(error instanceof CredentialFault)) throw error;
      throw new UpstreamsFileError([{ path: `upstreams[${index}].credential`, message: error.message }]);
    }
  }
}

/** Whether the connections of one can be used for the other. */
function hasSameConnections(one: UpstreamDefinition, other: UpstreamDefinition): boolean {
  return one.baseUrl.origin === other.baseUrl.origin && one.timeouts.connectMs === other.timeouts.connectMs;
}

/** Without showing any value of the file. */
function faultsOf(error: unknown): readonly string[] {
  if (error instanceof UpstreamsFileError) {
    return error.violations.map(({ path, message }) => `${path || "it"} ${message}`);
  }
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined) return [`it cannot be read (${code})`];
  throw error;
}
