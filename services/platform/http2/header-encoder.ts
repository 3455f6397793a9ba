import { staticTable } from "./header-table.ts";

const indexByName = new Map(staticTable.map(({ name }, index) => [name, index + 1]).reverse() as [string, number][]);
const indexByField = new Map(staticTable.map(({ name, value }, index) => [`${name} ${value}`, index + 1]));

/**
 * Encodes headers (HPACK, RFC 7541), given as alternating names and values. It uses only the static table: so a block
 * depends on nothing, can be kept and sent again, and no secret stays in a table of the peer.
 */
export function encodeHeaders(namesAndValues: readonly string[]): Buffer {
  let bytesMax = 0;
  for (const text of namesAndValues) bytesMax += text.length + textOverheadMax;
  const block = Buffer.allocUnsafe(bytesMax);
  let end = 0;
  for (let index = 0; index < namesAndValues.length; index += 2) {
    const name = namesAndValues[index] as string;
    const value = namesAndValues[index + 1] as string;
    const known = indexByField.get(`${name} ${value}`);
    if (known !== undefined) {
      end = writeInteger(block, end, 0x80, 7, known);
      continue;
    }
    const nameIndex = indexByName.get(name) ?? 0;
    end = writeInteger(block, end, 0, 4, nameIndex);
    if (nameIndex === 0) end = writeText(block, end, name);
    end = writeText(block, end, value);
  }
  return block.subarray(0, end);
}

/**
 * To be sent before the first block on a connection: the peer need not keep a table for us. Without it, a peer that
 * allows a smaller table than the default would wait in vain for our acknowledgement (RFC 7541, 4.2).
 */
export const noTable = Buffer.from([0x20]);

/** Two numbers of at most five bytes. */
const textOverheadMax = 10;

function writeText(block: Buffer, start: number, text: string): number {
  const end = writeInteger(block, start, 0, 7, text.length);
  return end + block.write(text, end, "latin1");
}

/** Returns where the next byte goes. */
function writeInteger(block: Buffer, start: number, firstBits: number, bits: number, value: number): number {
  const max = 2 ** bits - 1;
  if (value < max) {
    block[start] = firstBits | value;
    return start + 1;
  }
  block[start] = firstBits | max;
  let place = start + 1;
  let rest = value - max;
  while (rest >= 0x80) {
    block[place] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
    place += 1;
  }
  block[place] = rest;
  return place + 1;
}
