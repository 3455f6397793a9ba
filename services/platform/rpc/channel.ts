import { isIP } from "node:net";
import { lookUpName } from "../network/name-lookup.ts";
import { monotonicMs } from "../time/clock.ts";
import { Endpoint } from "./endpoint.ts";
import type { Peer } from "./grpc-connection.ts";
import { type HostPort, hostsOfTarget } from "./target.ts";
import { type TlsFiles, tlsOfCalls } from "./tls.ts";

/** A name is looked up at most this often. */
const lookupIntervalMs = 1_000;

type Lookup = (host: string) => Promise<readonly { readonly address: string }[]>;

/**
 * The processes behind one target. Calls go round-robin to those that are ready; if none is, to all of them, so that a
 * wrong health report cannot take everything down.
 */
export class Channel {
  readonly #hosts: readonly HostPort[];
  readonly #tls: TlsFiles | undefined;
  readonly #lookup: Lookup;
  /** The addresses behind each host, as of the last lookup. */
  readonly #found = new Map<HostPort, readonly Peer[]>();
  #endpoints = new Map<string, Endpoint>();
  /** The endpoints that calls go to. */
  #candidates: readonly Endpoint[] = [];
  #turn = 0;
  #hasServed = false;
  #isClosed = false;
  #lookedUpAtMs = Number.NEGATIVE_INFINITY;
  #lookupTimer: NodeJS.Timeout | undefined;
  #lookupFault: Error | undefined;

  constructor(target: string, tls: TlsFiles | undefined, lookup: Lookup) {
    this.#hosts = hostsOfTarget(target);
    this.#tls = tls;
    this.#lookup = lookup;
    for (const each of this.#hosts) if (isIP(each.host)) this.#found.set(each, [this.#peerAt(each.host, each)]);
    this.#useFound();
    if (this.#names.length > 0) void this.#lookUp();
  }

  /** Whether any process behind the target has ever reported ready. */
  get hasServed(): boolean {
    return this.#hasServed;
  }

  /** Why nothing behind the target can be reached; undefined if something may be. */
  get fault(): Error | undefined {
    const faults = [...this.#endpoints.values()].map(({ connection }) => connection.fault);
    if (faults.length === 0) return this.#lookupFault;
    return faults.includes(undefined) ? undefined : faults[0];
  }

  /** The next endpoint, if possible none of those to avoid. Undefined while no address is known. */
  pick(avoid?: ReadonlySet<Endpoint>): Endpoint | undefined {
    const others = avoid ? this.#others(avoid) : this.#candidates;
    const choice = others.length > 0 ? others : this.#candidates;
    this.#turn = (this.#turn + 1) % 0x4000_0000;
    return choice[this.#turn % choice.length];
  }

  /** Whether there are endpoints to try other than these and the picked one. */
  hasOthers(picked: Endpoint, avoid?: ReadonlySet<Endpoint>): boolean {
    if (!avoid || this.#candidates.length < 2) return this.#candidates.length > 1;
    return this.#others(avoid).some((endpoint) => endpoint !== picked);
  }

  /** Whether it was picked only because none is ready: another one may become ready before it answers. */
  isLastResort(picked: Endpoint): boolean {
    return !picked.isServing && this.#endpoints.size > 1;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#lookupTimer);
    for (const endpoint of this.#endpoints.values()) endpoint.close();
    this.#candidates = [];
  }

  get #names(): readonly HostPort[] {
    return this.#hosts.filter(({ host }) => !isIP(host));
  }

  #others(avoid: ReadonlySet<Endpoint>): readonly Endpoint[] {
    return this.#candidates.filter((endpoint) => !avoid.has(endpoint));
  }

  #choose(): void {
    const all = [...this.#endpoints.values()];
    const serving = all.filter(({ isServing }) => isServing);
    this.#hasServed ||= serving.length > 0;
    this.#candidates = serving.length > 0 ? serving : all;
  }

  #peerAt(ip: string, { host, port }: HostPort): Peer {
    return { ip, port, host, tls: this.#tls };
  }

  /** Opens new endpoints, and closes those that are gone. */
  #useFound(): void {
    if (this.#isClosed) return;
    const before = this.#endpoints;
    this.#endpoints = new Map(
      [...this.#found.values()].flat().map((peer) => {
        const address = `${peer.ip} ${peer.port}`;
        return [address, before.get(address) ?? this.#open(peer)];
      }),
    );
    this.#choose();
    for (const [address, endpoint] of before) if (!this.#endpoints.has(address)) endpoint.close();
  }

  #open(peer: Peer): Endpoint {
    return new Endpoint({ peer, onChange: () => this.#choose(), onMayBeGone: () => this.#lookUpSoon() });
  }

  /** When a connection ends or a process stops answering: it was replaced, or it is time to discover new ones. */
  #lookUpSoon(): void {
    if (this.#lookupTimer || this.#isClosed || this.#names.length === 0) return;
    const delayMs = Math.max(0, this.#lookedUpAtMs + lookupIntervalMs - monotonicMs());
    this.#lookupTimer = setTimeout(() => {
      this.#lookupTimer = undefined;
      void this.#lookUp();
    }, delayMs).unref();
  }

  /** Each name on its own: one that cannot be resolved does not affect the others. */
  async #lookUp(): Promise<void> {
    this.#lookedUpAtMs = monotonicMs();
    let fault: Error | undefined;
    const lookUpOne = async (name: HostPort): Promise<void> => {
      try {
        const addresses = await this.#lookup(name.host);
        this.#found.set(
          name,
          addresses.map(({ address }) => this.#peerAt(address, name)),
        );
        this.#useFound();
      } catch (error) {
        // That changes nothing: the known addresses may still be valid.
        fault = error as Error;
      }
    };
    await Promise.all(this.#names.map(lookUpOne));
    this.#lookupFault = fault;
    // Such a name has no connection whose end would trigger the next lookup.
    if (this.#names.some((name) => !this.#found.get(name)?.length)) this.#lookUpSoon();
  }
}

/** Opens a channel to the hosts of a target. Calls go to every address behind each name. */
export function openChannel(target: string, tls: TlsFiles | undefined, lookup: Lookup = lookUpName): Channel {
  return new Channel(target, tlsOfCalls(tls), lookup);
}
