import { expect, it } from "vitest";
import type { Preset } from "../domain/preset.ts";
import { presetStateFromJson, presetStateToJson } from "./preset-state.ts";

const slug = "support-bot";
const created = { name: slug, description: undefined, status: "active", statusUpdatedAt: undefined } as const;

it.each<[string, Partial<Preset>]>([
  ["nothing", {}],
  ["the name", { name: "Support" }],
  ["the description", { description: "Answers" }],
  ["the status", { status: "disabled", statusUpdatedAt: new Date("2026-01-01T00:00:00.123Z") }],
  ["the status, twice", { statusUpdatedAt: new Date("2026-01-01T00:00:00.123Z") }],
])("is restored as it was stored after a change of %s", (_name, change) => {
  const state = { ...created, ...change };
  expect(presetStateFromJson(presetStateToJson({ slug, ...state } as Preset), slug)).toEqual(state);
});
