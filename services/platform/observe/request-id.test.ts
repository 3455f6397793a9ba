import { describe, expect, it } from "vitest";
import { keyFromBytes } from "../auth/key-format.ts";
import { requestIdsOfPart, saneRequestId, saneRequestIds } from "./request-id.ts";

const key = keyFromBytes(Buffer.alloc(32, 1));
const jwt = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1c2VyIn0.c2lnbmF0dXJl";
const longest = "a".repeat(128);

describe("a request id", () => {
  it.each(["mine", "018f-1:2/3+4=5~6.7_8", longest])("is accepted: %s", (id) => {
    expect([saneRequestId(id), saneRequestIds(id, true), saneRequestIds(id, false)]).toEqual([id, id, id]);
  });

  it.each([
    ["nothing", ""],
    ["too long", `${longest}a`],
    ["a sentence", "my id"],
    ["a line break", "a\nb"],
    ["not ASCII", "ä"],
    ["a key", key],
    ["a part of a key", `x-${key.slice(0, 20)}`],
    ["an access token", jwt],
    ["the start of a token", jwt.slice(0, 12)],
  ])("is rejected if it is %s", (_name, id) => {
    expect([saneRequestId(id), saneRequestIds(id, true), saneRequestIds(`mine,${id}`, true)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("is rejected if there are two headers or none", () => {
    expect([saneRequestId(["a", "b"]), saneRequestId(undefined), saneRequestIds(undefined, true)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("the request ids of a batch", () => {
  it("are accepted up to the gateway's batch size, each up to the maximum length", () => {
    const ids = Array(64).fill(longest);
    expect(saneRequestIds(ids.join(","), true)).toBe(ids.join(","));
    expect(saneRequestIds("a|b,c", true)).toBe("a|b,c");
    expect(saneRequestIds([...ids, "a"].join(","), true)).toBeUndefined();
  });

  it("are shortened to one and a count for an unauthenticated caller", () => {
    expect(saneRequestIds("a|b,c", false)).toBe("a +2");
  });

  it("are rejected if a single id is expected", () => {
    expect(saneRequestId("a,b")).toBeUndefined();
  });

  it("are assigned to the parts of the batch", () => {
    const parts = [0, 1, 2];
    expect(parts.map((part) => requestIdsOfPart("a|b,c", part))).toEqual(["a|b", "c", "a|b,c"]);
    expect(parts.map((part) => requestIdsOfPart("a", part))).toEqual(["a", "a", "a"]);
    expect(requestIdsOfPart(undefined, 0)).toBeUndefined();
  });
});
