import { ConnectionError, errorCodes } from "./protocol.ts";

/**
 * The length in bits of the code of each byte, and of the end of string (RFC 7541, B). The codes follow from the
 * lengths: ordered by length and then by byte, each is the one before it plus one.
 */
const codeLengths = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
  5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23,
  22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22,
  23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26,
  20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
  27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27,
  27, 27, 27, 26, 30,
];

const endSymbol = 256;

/**
 * The codes as a tree: two entries for each inner node, one for each bit. An entry is the next node, or a symbol as -1
 * - symbol.
 */
const tree = plantTree();

function plantTree(): Int16Array {
  const symbols = [...codeLengths.keys()].sort(
    (a, b) => (codeLengths[a] as number) - (codeLengths[b] as number) || a - b,
  );
  const nodes = new Int16Array(2 * (codeLengths.length - 1));
  let nodeCount = 1;
  let code = 0;
  let bitCount = 0;
  for (const symbol of symbols) {
    const length = codeLengths[symbol] as number;
    code *= 2 ** (length - bitCount);
    bitCount = length;
    let node = 0;
    for (let bit = length - 1; bit > 0; bit -= 1) {
      const place = 2 * node + ((code >>> bit) & 1);
      if (nodes[place] === 0) {
        nodes[place] = nodeCount;
        nodeCount += 1;
      }
      node = nodes[place] as number;
    }
    nodes[2 * node + (code & 1)] = -1 - symbol;
    code += 1;
  }
  return nodes;
}

/** The shortest code has this many bits, so a text is at most 8/5 as long as its code. */
const bitsMin = 5;

/** Decodes a Huffman-coded text, as Latin-1. Throws if it is not one. */
export function decodeHuffman(bytes: Buffer, start: number, end: number): string {
  const text = Buffer.allocUnsafe(Math.floor(((end - start) * 8) / bitsMin));
  let length = 0;
  let node = 0;
  /** The bits since the last symbol: how many there are, and whether all of them are ones. */
  let openBits = 0;
  let areOnes = true;
  for (let index = start; index < end; index += 1) {
    const byte = bytes[index] as number;
    for (let bit = 7; bit >= 0; bit -= 1) {
      const value = (byte >>> bit) & 1;
      const next = tree[2 * node + value] as number;
      if (next >= 0) {
        node = next;
        openBits += 1;
        areOnes &&= value === 1;
        continue;
      }
      if (next === -1 - endSymbol) throw new ConnectionError(errorCodes.compression, "A text goes on after its end");
      text[length] = -1 - next;
      length += 1;
      node = 0;
      openBits = 0;
      areOnes = true;
    }
  }
  // The padding to a whole byte is the beginning of the end-of-string code, which is all ones.
  if (openBits > 7 || !areOnes) throw new ConnectionError(errorCodes.compression, "A text is not filled up with ones");
  return text.toString("latin1", 0, length);
}
