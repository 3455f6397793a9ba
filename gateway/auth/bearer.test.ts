import { describe, expect, it } from "vitest";
import { keyFromBytes, secretFromBytes } from "../../services/platform/auth/key-format.ts";
import { DomainError } from "../../services/platform/domain/domain-error.ts";
import { keyFrom, keyFromEither, unvalidatedKeyFrom } from "./bearer.ts";

const key = keyFromBytes(Buffer.alloc(32, 1));

describe("keyFrom", () => {
  it.each([`Bearer ${key}`, `bearer ${key}`, `BEARER   ${key}`, `Bearer ${key}  `])("finds the key in %j", (header) => {
    expect(keyFrom(header)).toBe(key);
  });

  it.each([
    [undefined, "KEY_MISSING"],
    ["", "KEY_MALFORMED"],
    ["Bearer", "KEY_MALFORMED"],
    ["Bearer ", "KEY_MALFORMED"],
    [key, "KEY_MALFORMED"],
    [`Basic ${key}`, "KEY_MALFORMED"],
    [`Bearer${key}`, "KEY_MALFORMED"],
    [`Bearer ${key} ${key}`, "KEY_MALFORMED"],
    [`Bearer ${key.slice(1)}`, "KEY_MALFORMED"],
    [`Bearer ${key}x`, "KEY_MALFORMED"],
    [`Bearer ${key.toUpperCase()}`, "KEY_MALFORMED"],
  ])("rejects %j and does not repeat it", (header, reason) => {
    const error = catchError(() => keyFrom(header));
    expect(error).toMatchObject({ kind: "unauthenticated", reason });
    expect(error.message).not.toContain(key.slice(9, -6));
  });
});

describe("keyFromEither", () => {
  it.each([
    [`Bearer ${key}`, undefined],
    [undefined, key],
    [`Bearer ${key}`, key],
    [`Bearer ${key}`, ""],
    ["", key],
    ["Bearer", key],
    ["Bearer ", key],
  ])("finds the key in either header: %j, %j", (authorization, apiKey) => {
    expect(keyFromEither(authorization, apiKey)).toBe(key);
  });

  it.each([
    [undefined, undefined, "KEY_MISSING"],
    [undefined, "", "KEY_MALFORMED"],
    ["", "", "KEY_MALFORMED"],
    ["Bearer", "", "KEY_MALFORMED"],
    [undefined, `${key}, ${key}`, "KEY_MALFORMED"],
    ["Basic no", key, "KEY_MALFORMED"],
    [`Bearer ${key}`, keyFromBytes(Buffer.alloc(32, 2)), "KEY_AMBIGUOUS"],
    [`Bearer ${key}`, "sk-of-an-upstream", "KEY_AMBIGUOUS"],
    ["Bearer no", key, "KEY_AMBIGUOUS"],
  ])("rejects a malformed key or two different keys: %j, %j", (authorization, apiKey, reason) => {
    expect(catchError(() => keyFromEither(authorization, apiKey))).toMatchObject({ kind: "unauthenticated", reason });
  });

  it("does not mention a header that was not sent", () => {
    for (const apiKey of ["", "no key", `${key}, ${key}`]) {
      expect(catchError(() => keyFromEither(undefined, apiKey)).message).not.toContain("Authorization");
    }
  });
});

describe("unvalidatedKeyFrom", () => {
  it.each([
    [`Bearer ${key}`, undefined],
    [undefined, key],
  ])("returns the key if only one header is sent", (authorization, apiKey) => {
    expect(unvalidatedKeyFrom(authorization, apiKey)).toBe(key);
  });

  const session = secretFromBytes("session", Buffer.alloc(32, 1));

  it.each([
    [undefined, undefined],
    [`bearer ${key}`, undefined],
    [`Bearer ${key}`, key],
    ["", key],
    [undefined, [key]],
    [`Bearer ${session}`, undefined],
    [undefined, session],
  ])("returns an empty string if a closer look is needed: %j, %j", (authorization, apiKey) => {
    expect(unvalidatedKeyFrom(authorization, apiKey)).toBe("");
  });
});

function catchError(call: () => unknown): DomainError {
  try {
    call();
  } catch (error) {
    if (error instanceof DomainError) return error;
  }
  throw new Error("nothing was refused");
}
