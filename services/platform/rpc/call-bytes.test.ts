import { afterEach, describe, expect, it } from "vitest";
import { bufferBytes } from "../../../test/support/garbage.ts";
import { CallBytes } from "./call-bytes.ts";

const bytes = new CallBytes({ maxBytes: 1_000_000 });
const connection = {};

afterEach(() => bytes.close());

describe("a call", () => {
  it("holds room once for an answer that was announced, and for more if that is larger", () => {
    const call = bytes.open(connection, { writableLength: 0, destroy() {} });
    expect(call.reserve(1_000)).toBe(true);
    call.answered(600);
    expect(bytes.used).toBe(1_000);
    call.answered(600);
    expect(bytes.used).toBe(1_200);
    call.release();
    expect(bytes.used).toBe(0);
  });

  it("leaves nothing in memory once it has ended", async () => {
    const before = bufferBytes();
    for (let count = 0; count < 1_000; count += 1) {
      const call = bytes.open(connection, Object.assign(Buffer.alloc(100_000), { writableLength: 0, destroy() {} }));
      call.begun(10);
      call.answered(10);
      call.release();
    }
    await expect.poll(() => bufferBytes() - before).toBeLessThan(10_000_000);
  });
});
