import { expect, it } from "vitest";
import type { Preset } from "../domain/preset.ts";
import { presetStateFromJson, presetStateToJson, updatedStateFromJson, updatedStateToJson } from "./preset-state.ts";

const slug = "support-bot";
const created = { name: slug, description: undefined, status: "active", statusUpdatedAt: undefined } as const;

const changes: [string, Partial<Preset>][] = [
  ["nothing", {}],
  ["the name", { name: "Support" }],
  ["the description", { description: "Answers" }],
  ["the status", { status: "disabled", statusUpdatedAt: new Date("2026-01-01T00:00:00.123Z") }],
  ["the status, twice", { statusUpdatedAt: new Date("2026-01-01T00:00:00.123Z") }],
];

it.each(changes)("is restored as it was stored after a change of %s", (_name, change) => {
  const state = { ...created, ...change };
  expect(presetStateFromJson(presetStateToJson({ slug, ...state } as Preset), slug)).toEqual(state);
});

it.each(changes)("is restored as an update left it, after a change of %s", (_name, change) => {
  const updated = { updatedAt: new Date("2026-01-02T00:00:00.456Z"), designatedNumber: 2, revision: 3 };
  const state = { ...created, ...updated, ...change };
  expect(updatedStateFromJson(updatedStateToJson({ slug, ...state } as Preset))).toEqual(state);
});

it("is stored only once something has changed", () => {
  const isStored = ([, change]: (typeof changes)[number]) =>
    presetStateToJson({ slug, ...created, ...change } as Preset) !== null;
  expect(changes.map(isStored)).toEqual([false, true, true, true, true]);
});
