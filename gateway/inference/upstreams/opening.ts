import type { LookupAddress } from "node:dns";
import { isIP, type Socket } from "node:net";
import { lookUpName } from "../../../services/platform/network/name-lookup.ts";
import { afterArrivals } from "../../../services/platform/time/next-turn.ts";

/** How long one address is tried before the next one is tried, too (RFC 8305). */
const headStartMs = 250;

interface OpeningParts {
  readonly host: string;
  /** For everything, from the lookup of the name on. */
  readonly timeoutMs: number;
  /** Begins to connect to an address. */
  readonly connect: (address: string) => Socket;
  /** The event of a socket that is ready for use. */
  readonly openEvent: "connect" | "secureConnect";
  readonly lookUp?: (host: string) => Promise<readonly LookupAddress[]>;
}

/** Told one of these, once, and never at once. */
export interface OpeningListener {
  onOpen(socket: Socket): void;
  onFailed(error: Error): void;
}

/**
 * A connection to a name, by whichever of its addresses is the first to accept one. Node would give up each address
 * after half a second, except for the last one: a name with a slow address and a dead one would never be reached, nor
 * one with many dead ones.
 */
export class Opening {
  readonly #parts: OpeningParts;
  readonly #listener: OpeningListener;
  readonly #timer: NodeJS.Timeout;
  /** Those that are not tried yet. */
  #addresses: string[] = [];
  #headStartMs = headStartMs;
  #nextTimer: NodeJS.Timeout | undefined;
  readonly #sockets = new Set<Socket>();
  #firstError: Error | undefined;
  #isSettled = false;

  constructor(parts: OpeningParts, listener: OpeningListener) {
    this.#parts = parts;
    this.#listener = listener;
    const giveUp = () => this.#fail(Object.assign(new Error("No connection in time"), { code: "ETIMEDOUT" }));
    this.#timer = setTimeout(() => afterArrivals(giveUp), parts.timeoutMs);
    const { host, lookUp = lookUpName } = parts;
    if (isIP(host)) this.#start([host]);
    else {
      lookUp(host).then(
        (addresses) => this.#start(inTurns(addresses)),
        (error) => this.#fail(error),
      );
    }
  }

  cancel(): void {
    if (this.#settle()) queueMicrotask(() => this.#listener.onFailed(new Error("closed")));
  }

  #start(addresses: string[]): void {
    this.#addresses = addresses;
    this.#headStartMs = Math.min(headStartMs, this.#parts.timeoutMs / (addresses.length + 1));
    this.#tryNext();
  }

  #tryNext(): void {
    clearTimeout(this.#nextTimer);
    const address = this.#isSettled ? undefined : this.#addresses.shift();
    if (address === undefined) return;
    if (this.#addresses.length > 0) this.#nextTimer = setTimeout(() => this.#tryNext(), this.#headStartMs);
    let socket: Socket;
    try {
      socket = this.#parts.connect(address);
    } catch (error) {
      // Such as one of TLS, about a setting. No other address would do better.
      queueMicrotask(() => this.#fail(error as Error));
      return;
    }
    this.#sockets.add(socket);
    const onOpen = () => {
      socket.off("error", onError);
      this.#sockets.delete(socket);
      if (this.#settle()) this.#listener.onOpen(socket);
    };
    const onError = (error: Error) => {
      socket.off(this.#parts.openEvent, onOpen);
      this.#failed(socket, error);
    };
    socket.once(this.#parts.openEvent, onOpen).on("error", onError);
    // What TLS still takes says nothing about the address.
    socket.once("connect", () => clearTimeout(this.#nextTimer));
  }

  #failed(socket: Socket, error: Error): void {
    this.#sockets.delete(socket);
    this.#firstError ??= error;
    if (this.#addresses.length > 0) this.#tryNext();
    else if (this.#sockets.size === 0) this.#fail(this.#firstError);
  }

  #fail(error: Error): void {
    if (this.#settle()) this.#listener.onFailed(error);
  }

  /** Ends what is under way. False if that has been done. */
  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#nextTimer);
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
    return true;
  }
}

/** One of each family in turn, beginning with the system's choice: often all addresses of a family are out of reach. */
function inTurns(addresses: readonly LookupAddress[]): string[] {
  const isFirstChoice = ({ family }: LookupAddress) => family === addresses[0]?.family;
  const others = addresses.filter((address) => !isFirstChoice(address));
  const choices = addresses.filter(isFirstChoice);
  const turns = Math.max(choices.length, others.length);
  return Array.from({ length: turns }, (_, turn) => [choices[turn], others[turn]])
    .flat()
    .flatMap((found) => found?.address ?? []);
}
