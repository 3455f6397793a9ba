import type { LookupAddress } from "node:dns";
import { lookup as systemLookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";

/** A name server that answers at all does so within this time. */
const answerMs = 1_000;

/** The resolver got no answer, as opposed to one that says that there is no such name. */
const noAnswerCode = "EAI_AGAIN";

type Addresses = readonly LookupAddress[];

interface Name {
  /** As of the last answer. */
  known?: Addresses | undefined;
  /** Ends with the answer, or with the known addresses if that takes long. */
  lookup?: Promise<Addresses> | undefined;
}

/**
 * Looks names up as the system does. Node does that in two threads that the whole process shares, and a lookup that is
 * not answered keeps its thread for ten seconds or more, even if nobody waits for it any more. So a name is looked up
 * only once at a time: one whose name server does not answer does not keep others waiting. Meanwhile, its known
 * addresses are used.
 */
export class NameLookup {
  readonly #names = new Map<string, Name>();
  readonly #ask: (host: string) => Promise<Addresses>;

  constructor(ask: (host: string) => Promise<Addresses> = (host) => systemLookup(host, { all: true })) {
    this.#ask = ask;
  }

  /** All addresses of a name, in the system's order of preference. Rejects with the system's error. */
  lookUp(host: string): Promise<Addresses> {
    let name = this.#names.get(host);
    if (!name) {
      name = {};
      this.#names.set(host, name);
    }
    name.lookup ??= this.#begin(host, name);
    return name.lookup;
  }

  #begin(host: string, name: Name): Promise<Addresses> {
    const answer = this.#ask(host).then(
      (addresses) => {
        name.known = addresses;
        return addresses;
      },
      (error: NodeJS.ErrnoException) => {
        if (error.code === noAnswerCode && name.known) return name.known;
        name.known = undefined;
        throw error;
      },
    );
    const forget = () => {
      name.lookup = undefined;
      if (!name.known) this.#names.delete(host);
    };
    void answer.then(forget, forget);
    return name.known ? answeredInTime(answer, name.known) : answer;
  }
}

function answeredInTime(answer: Promise<Addresses>, known: Addresses): Promise<Addresses> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(known), answerMs).unref();
    answer.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

const names = new NameLookup();

export function lookUpName(host: string): Promise<Addresses> {
  return names.lookUp(host);
}

/** The same, for a socket that is to connect to a name. */
export const lookUpForSocket: LookupFunction = (host, { all }, callback) => {
  names.lookUp(host).then(
    (addresses) => {
      const [first] = addresses;
      if (all || !first) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    },
    (error: NodeJS.ErrnoException) => callback(error, []),
  );
};
