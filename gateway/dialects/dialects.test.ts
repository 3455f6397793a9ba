import { describe, expect, it } from "vitest";
import { configChecks } from "../../services/platform/config-fields/config-fields.ts";
import { configOf, violationsOf } from "../../test/support/dialect-bodies.ts";
import { chatCompletions } from "./chat-completions.ts";
import type { Dialect } from "./dialect.ts";
import { messages } from "./messages.ts";
import { readBody } from "./read-body.ts";
import { responses } from "./responses.ts";

describe("required fields", () => {
  const isRequired = "is required";

  it.each<[string, Dialect, unknown, { path: string; message: string }[]]>([
    ["chat without messages", chatCompletions, { model: "m" }, [{ path: "messages", message: isRequired }]],
    [
      "messages without any field",
      messages,
      {},
      [
        { path: "messages", message: isRequired },
        { path: "model", message: isRequired },
      ],
    ],
    ["messages without a model", messages, { messages: [] }, [{ path: "model", message: isRequired }]],
    [
      "messages with a null model",
      messages,
      { messages: [], model: null },
      [{ path: "model", message: "must be a string" }],
    ],
    ["messages without messages", messages, { model: "m" }, [{ path: "messages", message: isRequired }]],
  ])("rejects %s", (_, dialect, body, violations) => {
    expect(violationsOf(dialect, body)).toEqual(violations);
  });
});

describe("service_tier", () => {
  it.each([
    [chatCompletions, { messages: [] }, { service_tier: "auto" }],
    [messages, { messages: null, model: "m" }, { service_tier: "auto", model: "m" }],
    [responses, {}, {}],
  ])("auto is dropped only from a responses body", (dialect, least, config) => {
    expect(configOf(dialect, { ...least, service_tier: "auto" })).toEqual(config);
  });

  it("other than auto is kept from a responses body", () => {
    expect(configOf(responses, { service_tier: "flex" })).toEqual({ service_tier: "flex" });
  });
});

it("gives responses fields the bounds of the chat dialect", () => {
  const chat = chatCompletions.bodySchema.properties;
  const shared = Object.entries(responses.bodySchema.properties).filter(([field]) => field in chat);
  expect(shared.length).toBeGreaterThan(20);
  for (const [field, schema] of shared) expect(schema, field).toEqual(chat[field]);
});

it("has a dialect for every field that a config may hold", () => {
  const kept = [chatCompletions, messages, responses].flatMap(({ keptKeys }) => [...keptKeys]);
  expect([...new Set(kept)].sort()).toEqual([...configChecks.keys()].sort());
});

it("accepts 5.0 as an integer and keeps it as sent", () => {
  expect(readBody(responses, '{"max_output_tokens":5.0}').configJson).toBe('{"max_output_tokens":5.0}');
});
