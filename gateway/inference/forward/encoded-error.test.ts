import { describe, expect, it } from "vitest";
import { bufferBytes } from "../../../test/support/garbage.ts";
import { EncodedError } from "./encoded-error.ts";

const mebibyte = 1024 * 1024;

describe("a compressed error", () => {
  it("is not kept if it is too long to be decoded", async () => {
    const before = bufferBytes();
    const error = EncodedError.of("gzip");
    for (let count = 0; count < 100; count += 1) error?.add(Buffer.alloc(mebibyte));
    await expect.poll(() => bufferBytes() - before).toBeLessThan(10 * mebibyte);
    expect(error?.text()).toHaveLength(0);
  });
});
