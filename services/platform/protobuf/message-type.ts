import { create, type DescField, type DescMessage, type Message, type ScalarType } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import { type MessageInput, type UnknownField, unreadable } from "./message-input.ts";
import type { MessageOutput } from "./message-output.ts";
import { int32Type, scalarType, type ValueType, wrongType } from "./value-types.ts";

type Fields = Record<string, unknown> & { $unknown?: UnknownField[] };

const types = new WeakMap<DescMessage, MessageType>();

/** How messages of a type are read and written. No message of ours contains one of its own type. */
export function messageType(descriptor: DescMessage): MessageType {
  let type = types.get(descriptor);
  if (!type) {
    type = new MessageType(descriptor);
    types.set(descriptor, type);
  }
  return type;
}

class MessageType {
  /** All fields as they are where nothing is said of them. */
  readonly #empty: Fields;
  /** Those that are not shared between messages when they are empty. */
  readonly #lists: readonly string[];
  readonly #oneofs: readonly string[];
  readonly #fields: readonly Field[];
  readonly #byNumber: readonly (Field | undefined)[];

  constructor(descriptor: DescMessage) {
    this.#empty = create(descriptor) as Message & Fields;
    this.#lists = descriptor.fields.filter(({ fieldKind }) => fieldKind === "list").map(({ localName }) => localName);
    this.#oneofs = descriptor.oneofs.map(({ localName }) => localName);
    this.#fields = descriptor.fields
      .map((field) => fieldOf(field, this.#empty))
      .sort((one, other) => one.number - other.number);
    const byNumber: (Field | undefined)[] = [];
    for (const field of this.#fields) byNumber[field.number] = field;
    this.#byNumber = Array.from(byNumber);
  }

  make(): Fields {
    const message = { ...this.#empty };
    for (const name of this.#lists) message[name] = [];
    for (const name of this.#oneofs) message[name] = { case: undefined };
    return message;
  }

  readInto(message: Fields, input: MessageInput): void {
    while (input.hasMore) {
      const tag = input.tag();
      const field = this.#byNumber[tag >>> 3];
      if (field) field.read(message, input, tag & 7);
      else {
        message.$unknown ??= [];
        message.$unknown.push(input.unknownField(tag));
      }
    }
  }

  write(output: MessageOutput, message: Fields): void {
    // Anything else would look like a message of which no field is there.
    if (typeof message !== "object" || message === null || Array.isArray(message)) throw wrongType("a message");
    for (const field of this.#fields) field.write(output, message);
  }
}

/** One field of a message. What it is part of, is given to it. */
abstract class Field {
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

/** Not written where it says nothing: where it is not there, or is zero in a field that is always there. */
class SingularField extends Field {
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

class OneofField extends Field {
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

class ListField extends Field {
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

/** Numbers stand one behind the other, with one length for all of them; who sends them one by one is understood. */
class PackedListField extends ListField {
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

/** A message within a message. */
class MessageValue implements ValueType {
  readonly wireType = WireType.LengthDelimited;
  readonly #type: MessageType;
  /** Those of one field are mostly of about the same size. */
  #lengthBytes = 1;

  constructor(type: MessageType) {
    this.#type = type;
  }

  read(input: MessageInput, before: unknown): Fields {
    const message = (before as Fields | undefined) ?? this.#type.make();
    const outerEnd = input.enter();
    this.#type.readInto(message, input);
    input.leave(outerEnd);
    return message;
  }

  write(output: MessageOutput, value: unknown): void {
    const lengthBytes = this.#lengthBytes;
    const start = output.begin(lengthBytes);
    this.#type.write(output, value as Fields);
    this.#lengthBytes = output.end(start, lengthBytes);
  }
}

function fieldOf(field: DescField, empty: Fields): Field {
  const type = valueTypeOf(field);
  if (field.fieldKind === "list") return field.packed ? new PackedListField(field, type) : new ListField(field, type);
  if (field.oneof) return new OneofField(field, type, field.oneof.localName);
  return new SingularField(field, type, empty[field.localName]);
}

function valueTypeOf(field: DescField): ValueType {
  switch (field.fieldKind === "list" ? field.listKind : field.fieldKind) {
    case "message":
      return new MessageValue(messageType(field.message as DescMessage));
    case "enum":
      return int32Type;
    case "scalar":
      return scalarType(field.scalar as ScalarType);
    default:
      throw new Error(`${field}: no message has had a map so far, it has to be added here`);
  }
}
