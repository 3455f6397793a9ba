import { bytesOf, DynamicTable, type Field, newField, staticTable } from "./header-table.ts";
import { decodeHuffman } from "./huffman.ts";
import { ConnectionError, errorCodes } from "./protocol.ts";

/** What a peer may use unless told otherwise, and we do not tell it otherwise. */
const tableBytesMax = 4_096;

/** The maximum size of the headers of one message, including overhead. */
export const headerListBytesMax = 65_536;

const noBytes = Buffer.alloc(0);

/**
 * Decodes header blocks (HPACK, RFC 7541) of one connection, in order: the meaning of a block depends on the blocks
 * before it.
 */
export class HeaderDecoder {
  readonly #table = new DynamicTable(tableBytesMax);
  #block: Buffer = noBytes;
  #place = 0;

  /**
   * Undefined if they exceed the maximum size: even then the block is read to its end, so that others can be read after
   * it. Throws ConnectionError: after an unreadable block, no other can be read.
   */
  decode(block: Buffer): readonly Field[] | undefined {
    this.#block = block;
    this.#place = 0;
    const fields: Field[] = [];
    let isFirst = true;
    let bytes = 0;
    while (this.#place < block.length) {
      const first = block[this.#place] as number;
      if (first >> 5 === 0b001) {
        if (!isFirst) throw unreadable("A table is resized inside of a block");
        if (!this.#table.resize(this.#integer(5))) throw unreadable("A table is made larger than it may be");
        continue;
      }
      const field = this.#field(first);
      isFirst = false;
      bytes += bytesOf(field);
      if (bytes <= headerListBytesMax) fields.push(field);
    }
    this.#block = noBytes;
    return bytes <= headerListBytesMax ? fields : undefined;
  }

  /** By its first bits (RFC 7541, 6): an indexed field, or a new one that is or is not to be kept in the table. */
  #field(first: number): Field {
    if (first >= 0x80) return this.#find(this.#integer(7));
    const isKept = first >= 0x40;
    const index = this.#integer(isKept ? 6 : 4);
    const name = index === 0 ? this.#text() : this.#find(index).name;
    const field = newField(name, this.#text());
    if (isKept) this.#table.add(field);
    return field;
  }

  #find(index: number): Field {
    const field =
      index <= staticTable.length ? staticTable[index - 1] : this.#table.find(index - staticTable.length - 1);
    if (!field) throw unreadable("There is no header of that index");
    return field;
  }

  /** The first bits of an integer share a byte with something else. */
  #integer(bits: number): number {
    const max = 2 ** bits - 1;
    let value = this.#byte() & max;
    if (value < max) return value;
    for (let shift = 0; shift <= 21; shift += 7) {
      const byte = this.#byte();
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw unreadable("A number is too large");
  }

  #text(): string {
    const isHuffman = (this.#block[this.#place] as number) >= 0x80;
    const length = this.#integer(7);
    const start = this.#place;
    this.#place += length;
    if (this.#place > this.#block.length) throw unreadable("A block of headers ends too early");
    return isHuffman
      ? decodeHuffman(this.#block, start, this.#place)
      : this.#block.toString("latin1", start, this.#place);
  }

  #byte(): number {
    const byte = this.#block[this.#place];
    if (byte === undefined) throw unreadable("A block of headers ends too early");
    this.#place += 1;
    return byte;
  }
}

function unreadable(message: string): ConnectionError {
  return new ConnectionError(errorCodes.compression, message);
}
