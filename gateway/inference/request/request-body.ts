import { invalidRequest } from "../../../services/platform/domain/domain-error.ts";
import { fieldPath } from "../../../services/platform/json/field-path.ts";
import { JsonScan, type MemberPlace } from "../../../services/platform/json/json-scan.ts";
import { isRepeated } from "../../../services/platform/json/repetition-violations.ts";
import { nextTurn } from "../../../services/platform/time/next-turn.ts";
import { isNullAt, type JsonSource, textAt } from "./json-walk.ts";
import { type ModelReference, modelReferenceAt } from "./model-reference.ts";

/** A member of the top-level object. */
export interface BodyMember extends MemberPlace {
  readonly key: string;
  /** A `null` counts as not sent. */
  readonly isNull: boolean;
}

/** The body of an inference request as it came. Values are read from its bytes on demand. */
export class RequestBody implements JsonSource {
  readonly bytes: Buffer;
  readonly longValues: ReadonlyMap<number, number>;
  /** In the order they were sent. */
  readonly members: readonly BodyMember[];
  readonly #byKey = new Map<string, BodyMember>();
  #modelReference: ModelReference | undefined;

  constructor(bytes: Buffer, { members, longValues }: JsonScan) {
    const nameBytes = members.reduce((sum, { keyStart, keyEnd }) => sum + keyEnd - keyStart, 0);
    if (nameBytes > nameBytesMax) throw invalidRequest([{ path: "", message: namesTooLong }]);
    this.bytes = bytes;
    this.longValues = longValues;
    this.members = members.map((place) => this.#named(place));
  }

  /** The member with this key, if it has a value. */
  sent(key: string): BodyMember | undefined {
    const member = this.#byKey.get(key);
    return member?.isNull ? undefined : member;
  }

  /** Whether there is a member with this key, even if it is null. */
  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  /** What `model` names; undefined if it was not sent. Throws if it is not a name, or malformed. */
  get modelReference(): ModelReference | undefined {
    const member = this.sent("model");
    if (member) this.#modelReference ??= modelReferenceAt(this, member);
    return this.#modelReference;
  }

  #named({ keyStart, keyEnd, valueStart, valueEnd }: MemberPlace): BodyMember {
    // A key is always a string, and the limit for all of them together was checked.
    const key = textAt(this, keyStart, keyEnd, nameBytesMax) as string;
    if (this.#byKey.has(key)) throw invalidRequest([{ path: fieldPath("", key), message: isRepeated }]);
    const isNull = isNullAt(this, valueStart);
    const member = { key, keyStart, keyEnd, valueStart, valueEnd, isNull };
    this.#byKey.set(key, member);
    return member;
  }
}

/**
 * For all names together, with their quotes: many times what is needed. Reporting the origin of each field takes long.
 */
const nameBytesMax = 131_072;
const namesTooLong = `must not have fields whose names are longer than ${nameBytesMax} bytes together`;

/** A larger body is read in several turns of the event loop. */
const bytesPerTurn = 65_536 * 8;

/**
 * Reads the body of an inference request, which must be UTF-8; returns a promise if it is long. Throws an invalid
 * request.
 */
export function readRequestBody(bytes: Buffer): Promise<RequestBody> | RequestBody {
  const text = withoutMark(bytes);
  const scan = new JsonScan(text);
  if (text.length > bytesPerTurn) return readLong(text, scan);
  scan.read(text.length);
  return new RequestBody(text, scan);
}

async function readLong(bytes: Buffer, scan: JsonScan): Promise<RequestBody> {
  while (!scan.isDone) {
    await nextTurn();
    scan.read(bytesPerTurn);
  }
  await nextTurn();
  return new RequestBody(bytes, scan);
}

/** Some editors put a byte order mark at the beginning. */
function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}
