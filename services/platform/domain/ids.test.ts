import { describe, expect, it } from "vitest";
import { idFromBytes, idToBytes, isId, newId } from "./ids.ts";

describe("ids", () => {
  it("are unique UUIDs of version 7 that ascend with time", () => {
    const ids = Array.from({ length: 1_000 }, () => newId());
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const times = ids.map((id) => id.slice(0, 13));
    expect(times).toEqual(times.toSorted());
    expect(new Set(ids).size).toBe(1_000);
  });

  it("are stored as 16 bytes and read back", () => {
    const id = newId();
    expect(idToBytes(id)).toHaveLength(16);
    expect(idFromBytes(idToBytes(id))).toBe(id);
    expect(idFromBytes(idToBytes(id.toUpperCase()))).toBe(id);
  });

  it.each(["", "x", "019a0000-0000-7000-8000-00000000000", "019a0000-0000-7000-8000-0000000000000", "{}"])(
    "reject %j",
    (text) => {
      expect(isId(text)).toBe(false);
    },
  );
});
