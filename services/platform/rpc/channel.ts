import { lookup as dnsLookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { ChannelCredentials } from "@grpc/grpc-js";
import { monotonicMs } from "../process/clock.ts";
import { Endpoint } from "./endpoint.ts";
import { requestBytesMax, responseBytesMax } from "./grpc-definition.ts";
import { channelCredentials, type TlsFiles } from "./tls.ts";

const flowControlWindow = 4 * 1024 * 1024;

const connectionOptions = {
  // Of a single address: it connects again at once, and not when the next call comes.
  "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  "grpc.max_receive_message_length": responseBytesMax,
  "grpc.max_send_message_length": requestBytesMax,
  // An answer to a batch is often larger than what HTTP/2 lets a server send before it waits for the client.
  "grpc-node.flow_control_window": flowControlWindow,
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 10_000,
  // grpc-js would buffer every call to be able to repeat it; we repeat calls ourselves, see `grpc-client.ts`.
  "grpc.enable_retries": 0,
  // A process that restarts is back within a second; do not stay away longer than needed.
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.min_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 2_000,
};

/** A name is looked up at most this often. */
const lookupIntervalMs = 1_000;

interface HostPort {
  readonly host: string;
  readonly port: string;
}

type Lookup = (host: string) => Promise<readonly { readonly address: string }[]>;

/**
 * The processes behind one target. Calls go in turn to those that are ready; where none says that it is, to all of them,
 * so that a wrong answer about health cannot take everything down.
 */
export class Channel {
  readonly #hosts: readonly HostPort[];
  readonly #credentials: ChannelCredentials;
  readonly #lookup: Lookup;
  #endpoints = new Map<string, Endpoint>();
  /** Whom calls go to. */
  #candidates: readonly Endpoint[] = [];
  #turn = 0;
  #hasServed = false;
  #isClosed = false;
  #lookedUpAtMs = Number.NEGATIVE_INFINITY;
  #lookupTimer: NodeJS.Timeout | undefined;

  constructor(target: string, credentials: ChannelCredentials, lookup: Lookup) {
    this.#hosts = target.split(",").map(hostPortFrom);
    this.#credentials = credentials;
    this.#lookup = lookup;
    this.#use(this.#hosts.filter(({ host }) => isIP(host)).map(({ host, port }) => [addressOf(host, port), host]));
    if (this.#hosts.some(({ host }) => !isIP(host))) void this.#lookUp();
  }

  /** Whether a process behind the target has ever said that it is ready. */
  get hasServed(): boolean {
    return this.#hasServed;
  }

  /** Whose turn it is; where it can be, none of those to avoid. Undefined while no address is known. */
  pick(avoid?: ReadonlySet<Endpoint>): Endpoint | undefined {
    const others = avoid ? this.#others(avoid) : this.#candidates;
    const choice = others.length > 0 ? others : this.#candidates;
    this.#turn = (this.#turn + 1) % 0x4000_0000;
    return choice[this.#turn % choice.length];
  }

  /** Whether there is anyone to turn to beside these and the one that was picked. */
  hasOthers(picked: Endpoint, avoid?: ReadonlySet<Endpoint>): boolean {
    if (!avoid || this.#candidates.length < 2) return this.#candidates.length > 1;
    return this.#others(avoid).some((endpoint) => endpoint !== picked);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#lookupTimer);
    for (const endpoint of this.#endpoints.values()) endpoint.close();
    this.#candidates = [];
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

  /** Opens what is new, and closes what is gone. */
  #use(found: readonly (readonly [address: string, host: string])[]): void {
    const before = this.#endpoints;
    this.#endpoints = new Map(
      found.map(([address, host]) => [address, before.get(address) ?? this.#open(address, host)]),
    );
    this.#choose();
    for (const [address, endpoint] of before) if (!this.#endpoints.has(address)) endpoint.close();
  }

  #open(address: string, host: string): Endpoint {
    const authority = `${host}${address.slice(address.lastIndexOf(":"))}`;
    // The name that the certificate is for, and that the service is called by.
    const names = isIP(host) ? {} : { "grpc.ssl_target_name_override": host, "grpc.default_authority": authority };
    return new Endpoint({
      address,
      credentials: this.#credentials,
      options: { ...connectionOptions, ...names },
      onChange: () => this.#choose(),
      onWatchEnd: () => this.#lookUpSoon(),
    });
  }

  /** When a connection ends: a process was replaced, or it is time to notice those that were added. */
  #lookUpSoon(): void {
    if (this.#lookupTimer || this.#isClosed || this.#hosts.every(({ host }) => isIP(host))) return;
    const delayMs = Math.max(0, this.#lookedUpAtMs + lookupIntervalMs - monotonicMs());
    this.#lookupTimer = setTimeout(() => {
      this.#lookupTimer = undefined;
      void this.#lookUp();
    }, delayMs).unref();
  }

  async #lookUp(): Promise<void> {
    this.#lookedUpAtMs = monotonicMs();
    try {
      const found = await Promise.all(
        this.#hosts.map(async ({ host, port }) => {
          const addresses = isIP(host) ? [{ address: host }] : await this.#lookup(host);
          return addresses.map(({ address }) => [addressOf(address, port), host] as const);
        }),
      );
      if (!this.#isClosed) this.#use(found.flat());
    } catch {
      // A name that cannot be looked up changes nothing: those that are known may still be there.
    }
    if (this.#endpoints.size === 0) this.#lookUpSoon();
  }
}

/**
 * Opens a channel to `host:port`, or to several, with commas between them. Calls go to every address behind each name;
 * `dns:///` before a name, as other gRPC clients want it, changes nothing.
 */
export function openChannel(
  target: string,
  tls: TlsFiles | undefined,
  lookup: Lookup = (host) => dnsLookup(host, { all: true }),
): Channel {
  return new Channel(target, channelCredentials(tls), lookup);
}

/** As gRPC has it, the port may be left out. */
const portDefault = "443";

function hostPortFrom(text: string): HostPort {
  const {
    host,
    ip,
    port = portDefault,
  } = text
    .trim()
    .match(/^(?:(?:dns|ipv4|ipv6):(?:\/\/[^/]*\/)?)?(?:\[(?<ip>[^\]]+)\]|(?<host>[^:]+))(?::(?<port>\d+))?$/)?.groups ??
  {};
  const name = ip ?? host;
  if (name === undefined) throw new Error(`"${text}" is no gRPC target: it must be host:port or dns:///name:port`);
  return { host: name, port };
}

function addressOf(ip: string, port: string): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}
