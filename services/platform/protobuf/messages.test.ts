import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  type Message,
  type MessageInitShape,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { AnySchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { StatusSchema } from "../../../proto/gen/google/rpc/status_pb.ts";
import { Health } from "../../../proto/gen/grpc/health/v1/health_pb.ts";
import { file_setpoint_organization_v1_access_service } from "../../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { file_setpoint_organization_v1_key_service } from "../../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import { file_setpoint_organization_v1_organization_service } from "../../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { file_setpoint_organization_v1_session_service } from "../../../proto/gen/setpoint/organization/v1/session_service_pb.ts";
import { file_setpoint_organization_v1_workspace_service } from "../../../proto/gen/setpoint/organization/v1/workspace_service_pb.ts";
import {
  CreateVersionRequestSchema,
  file_setpoint_preset_v1_preset_service,
  ListPresetsRequestSchema,
  ListPresetsResponseSchema,
  PresetOutcomeSchema,
} from "../../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { bufferBytes } from "../../../test/support/garbage.ts";
import { readMessage, writeMessage } from "./messages.ts";

const files = [
  Health.file,
  file_setpoint_organization_v1_access_service,
  file_setpoint_organization_v1_key_service,
  file_setpoint_organization_v1_organization_service,
  file_setpoint_organization_v1_session_service,
  file_setpoint_organization_v1_workspace_service,
  file_setpoint_preset_v1_preset_service,
];
const methods = files.flatMap(({ services }) => services.flatMap((service) => service.methods));
const types = new Map<string, DescMessage>(
  [StatusSchema, ...methods.flatMap(({ input, output }) => [input, output])].map((type) => [type.typeName, type]),
);

/** The same numbers in every run. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

type Random = ReturnType<typeof randomNumbers>;

const texts = [
  "",
  "a",
  "preset",
  "x".repeat(40),
  "y".repeat(41),
  "\u00fc".repeat(30),
  "\u20ac",
  "\u{1f600}",
  "\0",
  "\ufffd",
];
texts.push("z".repeat(127), "z".repeat(128), "\u00fc".repeat(100), "\u20ac".repeat(6_000), "w".repeat(70_000));
const numbers = [0, 1, -1, 127, 128, 16_383, 16_384, 2 ** 21, 2 ** 28, 2 ** 31 - 1, -(2 ** 31)];
const longs = [0n, 1n, -1n, 2n ** 31n, 2n ** 49n - 1n, 2n ** 49n, 2n ** 63n - 1n, -(2n ** 63n)];

function pick<Value>(random: Random, values: readonly Value[]): Value {
  return values[random(values.length)] as Value;
}

function randomScalar(random: Random, scalar: ScalarType): unknown {
  switch (scalar) {
    case ScalarType.STRING:
      return pick(random, texts);
    case ScalarType.BYTES:
      return Uint8Array.from({ length: pick(random, [0, 1, 32, 200]) }, () => random(256));
    case ScalarType.BOOL:
      return random(2) === 1;
    case ScalarType.INT64:
      return pick(random, longs);
    default:
      return pick(random, numbers);
  }
}

function randomValue(random: Random, field: DescField): unknown {
  if (field.message) return randomMessage(random, field.message);
  if (field.enum) return random(5);
  return randomScalar(random, field.scalar as ScalarType);
}

function randomField(random: Random, field: DescField): unknown {
  if (field.fieldKind !== "list") return randomValue(random, field);
  return Array.from({ length: random(4) }, () => randomValue(random, field));
}

function randomMessage(random: Random, type: DescMessage): Record<string, unknown> {
  const message: Record<string, unknown> = {};
  for (const field of type.fields) {
    if (random(3) === 0) continue;
    const value = randomField(random, field);
    if (field.oneof) message[field.oneof.localName] = { case: field.localName, value };
    else message[field.localName] = value;
  }
  return message;
}

function fromLibrary(type: DescMessage, bytes: Uint8Array): Message | undefined {
  try {
    return fromBinary(type, bytes);
  } catch {
    return undefined;
  }
}

function fromOurs(type: DescMessage, bytes: Buffer): Message | undefined {
  try {
    return readMessage(type, bytes);
  } catch {
    return undefined;
  }
}

describe.each([...types.values()].map((type) => [type.typeName, type] as const))("%s", (_name, type) => {
  const random = randomNumbers(type.typeName.length);
  const inits = Array.from({ length: 30 }, () => randomMessage(random, type) as MessageInitShape<DescMessage>);
  const all = inits.map((init) => ({ init, message: create(type, init) }));

  it("is written like the library writes it, with all fields or not", () => {
    for (const { init, message } of all) {
      const expected = Buffer.from(toBinary(type, message));
      expect(writeMessage(type, message).equals(expected)).toBe(true);
      expect(writeMessage(type, init).equals(expected)).toBe(true);
    }
  });

  it("is read like the library reads it, even from concatenated parts", () => {
    for (const { message } of all) {
      const bytes = Buffer.from(toBinary(type, message));
      expect(readMessage(type, bytes)).toEqual(fromBinary(type, bytes));
      const twice = Buffer.concat([bytes, bytes]);
      expect(readMessage(type, twice)).toEqual(fromBinary(type, twice));
    }
  });

  it("is read from corrupt bytes only if the library reads the same", () => {
    for (const { message } of all) {
      const bytes = Buffer.from(toBinary(type, message)).subarray(0, 2_000);
      for (let round = 0; round < 40; round += 1) {
        const broken = Buffer.from(bytes.subarray(0, random(bytes.length + 1)));
        for (let change = random(4); change > 0 && broken.length > 0; change -= 1) {
          broken[random(broken.length)] = random(256);
        }
        const read = fromOurs(type, broken);
        if (read) expect(read).toEqual(fromLibrary(type, broken));
      }
    }
  });
});

describe("a message", () => {
  it("is written after reserved space", () => {
    const bytes = writeMessage(ListPresetsRequestSchema, { offset: 3 }, 5);
    expect(readMessage(ListPresetsRequestSchema, bytes.subarray(5)).offset).toBe(3);
  });

  it("is written correctly after one that could not be written", () => {
    expect(() => writeMessage(CreateVersionRequestSchema, { slug: "half", configJson: 1 as never })).toThrow(TypeError);
    expect(writeMessage(ListPresetsRequestSchema, { limit: 1 })).toEqual(Buffer.from([0x10, 1]));
  });

  it("is not changed by the next one", () => {
    const first = writeMessage(ListPresetsRequestSchema, { query: "first" });
    writeMessage(ListPresetsRequestSchema, { query: "other" });
    expect(readMessage(ListPresetsRequestSchema, first).query).toBe("first");
  });

  it("shares nothing with another of its type", () => {
    const [one, other] = [readMessage(ListPresetsRequestSchema, Buffer.alloc(0)), create(ListPresetsRequestSchema)];
    one.statuses.push(1);
    expect(readMessage(ListPresetsRequestSchema, Buffer.alloc(0))).toEqual(other);
    const [first, second] = [1, 2].map(() => readMessage(PresetOutcomeSchema, Buffer.alloc(0)));
    expect(first?.outcome).not.toBe(second?.outcome);
  });

  it("accepts packed and unpacked lists of numbers", () => {
    for (const bytes of [
      [0x18, 1, 0x18, 2],
      [0x1a, 2, 1, 2],
      [0x18, 1, 0x1a, 1, 2],
    ]) {
      expect(readMessage(ListPresetsRequestSchema, Buffer.from(bytes)).statuses).toEqual([1, 2]);
    }
  });

  it("keeps unknown fields", () => {
    const bytes = Buffer.from([0x08, 1, 0xfa, 0x01, 2, 7, 8]);
    expect(readMessage(ListPresetsRequestSchema, bytes)).toEqual(fromBinary(ListPresetsRequestSchema, bytes));
  });

  it.each([
    ["invalid UTF-8", [0x22, 2, 0xc3, 0x28]],
    ["half a character", [0x22, 1, 0xc3]],
    ["a surrogate", [0x22, 3, 0xed, 0xa0, 0x80]],
    ["a length beyond the end", [0x22, 5, 0x61]],
    ["a length of four gigabytes", [0x22, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    ["an endless number", [0x08, ...Array<number>(10).fill(0x80)]],
    ["a truncated number", [0x08, 0x80]],
    ["a number that goes on after its list", [0x1a, 1, 0x80, 0x01]],
    ["field number 0", [0x00, 1]],
    ["a tag that is too long", [0x88, 0x80, 0x80, 0x80, 0x80, 0x00, 1]],
    ["a tag that is too large", [0x88, 0x80, 0x80, 0x80, 0x10, 1]],
    ["a string in place of a number", [0x0a, 1, 0x61]],
    ["a number in place of a string", [0x20, 1]],
    ["the end of a group", [0x0c]],
    ["an unclosed group", [0xfb, 0x01, 0x08, 1]],
    ["a hundred nested groups", [...Array<number>(100).fill(0x7b), ...Array<number>(100).fill(0x7c)]],
    [
      "endless groups",
      Array<number>(400)
        .fill(0xfb)
        .flatMap((byte) => [byte, 0x01]),
    ],
  ])("is not read from %s", (_what, bytes) => {
    expect(() => readMessage(ListPresetsRequestSchema, Buffer.from(bytes))).toThrow();
  });

  it("is not read from an endless number of 64 bits", () => {
    const bytes = Buffer.from([0x08, ...Array<number>(10).fill(0x80), 0]);
    expect(() => readMessage(TimestampSchema, bytes)).toThrow();
  });

  it.each([
    ["a text", [0x0a, 2, 0x0a, 3, 0x61, 0x61, 0x61]],
    ["the length of a text", [0x0a, 1, 0x0a, 1, 0x61]],
  ])("is not read from one within it that ends before %s does", (_what, bytes) => {
    expect(() => readMessage(ListPresetsResponseSchema, Buffer.from(bytes))).toThrow();
  });

  it.each([0x7f, 0x80, 0x3fff, 0x4000, 0x1f_ffff, 0x20_0000])(
    "is written like the library writes it, with a text of %i bytes",
    (length) => {
      const message = create(ListPresetsRequestSchema, { query: "x".repeat(length) });
      const expected = Buffer.from(toBinary(ListPresetsRequestSchema, message));
      expect(writeMessage(ListPresetsRequestSchema, message).equals(expected)).toBe(true);
    },
  );

  it("is written like the library writes it, where its end is that of the reserved memory", () => {
    const outer = (systemPrompt: string) =>
      create(ListPresetsResponseSchema, { presets: [{ designatedVersion: { systemPrompt } }] });
    for (let length = 65_500; length <= 65_540; length += 1) {
      // After a small one, more room has to be made for the lengths.
      writeMessage(ListPresetsResponseSchema, outer("x"));
      const message = outer("x".repeat(length));
      const expected = Buffer.from(toBinary(ListPresetsResponseSchema, message));
      expect(writeMessage(ListPresetsResponseSchema, message).equals(expected)).toBe(true);
    }
  });

  it("leaves nothing of a large one in memory", async () => {
    const before = bufferBytes();
    writeMessage(ListPresetsRequestSchema, { query: "x".repeat(30_000_000) });
    await expect.poll(() => bufferBytes() - before).toBeLessThan(10_000_000);
  });

  it("may contain the replacement character", () => {
    const bytes = writeMessage(ListPresetsRequestSchema, { query: "\ufffd" });
    expect(readMessage(ListPresetsRequestSchema, bytes).query).toBe("\ufffd");
  });

  it.each([
    ["a fraction", { offset: 1.5 }],
    ["a number that is too large", { offset: 2 ** 31 }],
    ["a number as a string", { offset: "1" }],
    ["a string as a number", { query: 1 }],
    ["an undefined item", { statuses: [undefined] }],
    ["a Set in place of a list", { statuses: new Set([1]) }],
  ])("is not written with %s", (_what, message) => {
    expect(() => writeMessage(ListPresetsRequestSchema, message as never)).toThrow(TypeError);
  });

  it.each(["a text", 1, true, undefined, null, [{}]])("is not written from %o", (message) => {
    expect(() => writeMessage(ListPresetsRequestSchema, message as never)).toThrow(TypeError);
    expect(() => writeMessage(ListPresetsResponseSchema, { presets: [message as never] })).toThrow(TypeError);
  });

  it.each([2n ** 63n, -(2n ** 63n) - 1n, 2n ** 64n])(
    "is not written with %d, which does not fit into 64 bits",
    (seconds) => {
      expect(() => writeMessage(TimestampSchema, { seconds })).toThrow(TypeError);
    },
  );

  it("is not written with an empty string as bytes", () => {
    expect(() => writeMessage(AnySchema, { value: "" as never })).toThrow(TypeError);
  });
});
