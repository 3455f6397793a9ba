import type { DescField } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import { type MessageInput, type UnknownField, unreadable } from "./message-input.ts";
import type { MessageOutput } from "./message-output.ts";
import { type ValueType, wrongType } from "./value-types.ts";

/** A message as the library has it: its fields by their names in JavaScript. */
export type Fields = Record<string, unknown> & { $unknown?: UnknownField[] };

/** How one field of a message is read and written. It belongs to the type: the message is passed to it each time. */
export abstract class Field {
  readonly number: number;
  protected readonly name: string;
  protected readonly type: ValueType;
  readonly #tag: number;

  constructor({ number, localName }: DescField, type: ValueType, wireType = type.wireType) {
    this.number = number;
    this.name = localName;
    this.type = type;
    this.#tag = (number << 3) | wireType;
  }

  abstract read(message: Fields, input: MessageInput, wireType: WireType): void;
  abstract write(output: MessageOutput, message: Fields): void;

  protected readValue(input: MessageInput, wireType: WireType, before?: unknown): unknown {
    if (wireType !== this.type.wireType) throw unreadable();
    return this.type.read(input, before);
  }

  protected writeTag(output: MessageOutput): void {
    output.uint32(this.#tag);
  }

  protected writeValue(output: MessageOutput, value: unknown): void {
    this.writeTag(output);
    this.type.write(output, value);
  }
}

/** Not written if it is unset, or zero in a field without presence. */
export class SingularField extends Field {
  readonly #zero: unknown;
  readonly #isBytes: boolean;

  constructor(field: DescField, type: ValueType, zero: unknown) {
    super(field, type);
    this.#zero = zero;
    this.#isBytes = zero instanceof Uint8Array;
  }

  read(message: Fields, input: MessageInput, wireType: WireType): void {
    message[this.name] = this.readValue(input, wireType, message[this.name]);
  }

  write(output: MessageOutput, message: Fields): void {
    const value = message[this.name];
    if (value === undefined || value === null || value === this.#zero) return;
    if (this.#isBytes && value instanceof Uint8Array && value.length === 0) return;
    this.writeValue(output, value);
  }
}

/** One of several fields of which a message has at most one. */
export class OneofField extends Field {
  readonly #oneof: string;

  constructor(field: DescField, type: ValueType, oneof: string) {
    super(field, type);
    this.#oneof = oneof;
  }

  read(message: Fields, input: MessageInput, wireType: WireType): void {
    const chosen = this.#chosen(message);
    const value = this.readValue(input, wireType, chosen?.value);
    message[this.#oneof] = { case: this.name, value };
  }

  write(output: MessageOutput, message: Fields): void {
    const chosen = this.#chosen(message);
    if (chosen) this.writeValue(output, chosen.value);
  }

  #chosen(message: Fields): { readonly value: unknown } | undefined {
    const oneof = message[this.#oneof] as { readonly case?: string; readonly value: unknown } | undefined;
    return oneof?.case === this.name ? oneof : undefined;
  }
}

export class ListField extends Field {
  read(message: Fields, input: MessageInput, wireType: WireType): void {
    this.itemsOf(message).push(this.readValue(input, wireType));
  }

  write(output: MessageOutput, message: Fields): void {
    for (const item of this.itemsOf(message)) this.writeValue(output, item);
  }

  protected itemsOf(message: Fields): unknown[] {
    const items = message[this.name] ?? [];
    if (!Array.isArray(items)) throw wrongType("a list");
    return items;
  }
}

/** Numbers are packed, with one length for all of them. Unpacked ones are read, too. */
export class PackedListField extends ListField {
  constructor(field: DescField, type: ValueType) {
    super(field, type, WireType.LengthDelimited);
  }

  override read(message: Fields, input: MessageInput, wireType: WireType): void {
    if (wireType !== WireType.LengthDelimited) {
      super.read(message, input, wireType);
      return;
    }
    const items = this.itemsOf(message);
    const outerEnd = input.enter();
    while (input.hasMore) items.push(this.type.read(input, undefined));
    input.leave(outerEnd);
  }

  override write(output: MessageOutput, message: Fields): void {
    const items = this.itemsOf(message);
    if (items.length === 0) return;
    this.writeTag(output);
    const start = output.begin(1);
    for (const item of items) this.type.write(output, item);
    output.end(start, 1);
  }
}
