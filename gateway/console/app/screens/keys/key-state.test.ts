import { expect, it } from "vitest";
import { expiresSoon, hasExpired, previousSecretUntil, reasonNotRemovable } from "./key-state.ts";

const nowMs = Date.parse("2026-03-14T09:00:00.000Z");
const soon = "2026-03-15T09:00:00.000Z";
const later = "2026-04-15T09:00:00.000Z";
const past = "2026-03-13T09:00:00.000Z";

function management(id: string, change: { disabled?: boolean; expires_at?: string | null } = {}) {
  return { id, kind: "management" as const, disabled: false, expires_at: null, ...change };
}

it.each([
  ["the only one", management("a"), [], true],
  ["with another that never expires", management("a"), [management("b")], false],
  ["with a disabled one", management("a"), [management("b", { disabled: true })], true],
  ["with an expired one", management("a"), [management("b", { expires_at: past })], true],
  [
    "with another that expires earlier",
    management("a", { expires_at: later }),
    [management("b", { expires_at: soon })],
    true,
  ],
  [
    "with another that expires later",
    management("a", { expires_at: soon }),
    [management("b", { expires_at: later })],
    false,
  ],
  ["not working anyway", management("a", { disabled: true }), [], false],
  ["with an API key", management("a"), [{ ...management("b"), kind: "api" as const }], true],
  ["an API key", { ...management("a"), kind: "api" as const }, [], false],
])("tells whether a management key must be kept: %s", (_, key, others, stays) => {
  expect(reasonNotRemovable(key, [key, ...others], nowMs) !== undefined).toBe(stays);
});

it.each([
  [null, false],
  [soon, false],
  [past, true],
  [new Date(nowMs).toISOString(), true],
])("a key that expires at %s has expired: %s", (expires_at, expired) => {
  expect(hasExpired({ expires_at }, nowMs)).toBe(expired);
});

it.each([
  ["never", { expires_at: null }, false],
  ["tomorrow", { expires_at: soon }, true],
  ["tomorrow, and is disabled", { expires_at: soon, disabled: true }, false],
  ["in a month", { expires_at: later }, false],
  ["yesterday", { expires_at: past }, false],
])("tells whether a key that expires %s does so soon", (_when, change, expected) => {
  expect(expiresSoon(management("a", change), nowMs)).toBe(expected);
});

it.each([
  ["no rotation left one", null, undefined],
  ["it works", soon, soon],
  ["it has ended since it was loaded", past, undefined],
])("tells until when the previous secret works if %s", (_which, previous_expires_at, until) => {
  expect(previousSecretUntil({ previous_expires_at }, nowMs)).toBe(until);
});
