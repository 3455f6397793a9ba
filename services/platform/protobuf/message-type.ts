import { create, type DescField, type DescMessage, type Message, type ScalarType } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import { type Field, type Fields, ListField, OneofField, PackedListField, SingularField } from "./message-fields.ts";
import type { MessageInput } from "./message-input.ts";
import type { MessageOutput } from "./message-output.ts";
import { int32Type, scalarType, type ValueType, wrongType } from "./value-types.ts";

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
  /** All fields with their default values. */
  readonly #empty: Fields;
  /** Lists, which must not be shared between messages even when empty. */
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
    // Anything else would look like a message with no field set.
    if (typeof message !== "object" || message === null || Array.isArray(message)) throw wrongType("a message");
    for (const field of this.#fields) field.write(output, message);
  }
}

/** A message within a message. */
class MessageValue implements ValueType {
  readonly wireType = WireType.LengthDelimited;
  readonly #type: MessageType;
  /** The messages of one field mostly have similar sizes. */
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
