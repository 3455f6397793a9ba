import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { type DomainError, invalidRequest } from "../domain/domain-error.ts";
import { readMessage } from "../protobuf/messages.ts";
import { unreadableRequest } from "./refusals.ts";

/** A message below this many bytes has no room for so many fields that reading them takes long. */
const bytesToCount = 65_536;

/** Many times what a batch of a hundred parts has. */
export const fieldsMax = 10_000;

/** A message from bytes that a caller has sent. Throws what the caller may see. */
export function readRequest(message: DescMessage, bytes: Buffer): Message {
  try {
    if (!hasTooManyFields(message, bytes)) return readMessage(message, bytes);
  } catch {
    throw unreadableRequest(message);
  }
  throw tooManyFields();
}

/**
 * Whether a message holds more fields and list elements than any that means something: sixteen megabytes have room for
 * eight million, and making objects of them takes seconds. Throws if the bytes are not a message.
 */
export function hasTooManyFields(message: DescMessage, bytes: Uint8Array): boolean {
  return bytes.length > bytesToCount && countFields(message, bytes, fieldsMax) < 0;
}

function tooManyFields(): DomainError {
  return invalidRequest([{ path: "", message: `must not hold more than ${fieldsMax} fields and list elements` }]);
}

/** What is left of the number of fields that the message may still have; negative where it has more. */
function countFields(message: DescMessage, bytes: Uint8Array, most: number): number {
  const fields = new Map(message.fields.map((field) => [field.number, field]));
  const reader = new BinaryReader(bytes);
  let left = most;
  /** How many groups are open. Nothing within them is known. */
  let groups = 0;
  while (reader.pos < reader.len && left >= 0) {
    left--;
    const [number, wireType] = reader.tag();
    // Neither is skipped as a whole: a group may hold millions of fields, and a number that has no end millions of bytes.
    if (wireType === WireType.StartGroup) groups++;
    else if (wireType === WireType.EndGroup) groups--;
    else if (wireType === WireType.Varint) reader.uint32();
    else if (wireType !== WireType.LengthDelimited) reader.skip(wireType);
    else {
      const value = reader.bytes();
      const field = groups === 0 ? fields.get(number) : undefined;
      if (field?.message) left = countFields(field.message, value, left);
      // A packed element may be as short as a byte.
      else if (field && !isText(field)) left -= value.length;
    }
  }
  return left;
}

function isText({ scalar }: DescField): boolean {
  return scalar === ScalarType.STRING || scalar === ScalarType.BYTES;
}
