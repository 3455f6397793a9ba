import { ScalarType } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import type { MessageInput } from "./message-input.ts";
import type { MessageOutput } from "./message-output.ts";

/** How values of one type are read and written. */
export interface ValueType {
  readonly wireType: WireType;
  /** `before` is the field's current value: messages that arrive in parts are merged. */
  read(input: MessageInput, before: unknown): unknown;
  /** Throws if the value has another type. */
  write(output: MessageOutput, value: unknown): void;
}

const int32Min = -(2 ** 31);
const int32Max = 2 ** 31 - 1;
const int64Min = -(2n ** 63n);
const int64Max = 2n ** 63n - 1n;

export const int32Type: ValueType = {
  wireType: WireType.Varint,
  read: (input) => input.uint32() | 0,
  write(output, value) {
    if (!Number.isInteger(value)) throw wrongType("an integer");
    const number = value as number;
    if (number < int32Min || number > int32Max) throw wrongType("an integer of 32 bits");
    if (number < 0) output.int64(BigInt(number));
    else output.uint32(number);
  },
};

/** The scalar types that our messages use. */
const scalarTypes = new Map<ScalarType, ValueType>([
  [ScalarType.INT32, int32Type],
  [
    ScalarType.INT64,
    {
      wireType: WireType.Varint,
      read: (input) => input.int64(),
      write(output, value) {
        if (typeof value !== "bigint") throw wrongType("a bigint");
        if (value < int64Min || value > int64Max) throw wrongType("an integer of 64 bits");
        output.int64(value);
      },
    },
  ],
  [
    ScalarType.BOOL,
    {
      wireType: WireType.Varint,
      read: (input) => input.int64() !== 0n,
      write(output, value) {
        if (typeof value !== "boolean") throw wrongType("a boolean");
        output.uint32(value ? 1 : 0);
      },
    },
  ],
  [
    ScalarType.STRING,
    {
      wireType: WireType.LengthDelimited,
      read: (input) => input.text(),
      write(output, value) {
        if (typeof value !== "string") throw wrongType("a string");
        output.text(value);
      },
    },
  ],
  [
    ScalarType.BYTES,
    {
      wireType: WireType.LengthDelimited,
      read: (input) => input.bytes(),
      write(output, value) {
        if (!(value instanceof Uint8Array)) throw wrongType("bytes");
        output.bytes(value);
      },
    },
  ],
]);

export function scalarType(scalar: ScalarType): ValueType {
  const type = scalarTypes.get(scalar);
  if (!type) throw new Error(`no message has had a ${ScalarType[scalar]} so far: it has to be added here`);
  return type;
}

export function wrongType(expected: string): TypeError {
  return new TypeError(`must be ${expected}`);
}
