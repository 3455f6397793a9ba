import { expect, it } from "vitest";
import { isLastEvent } from "./stream-end.ts";

it.each([
  ["a chat", "data: [DONE]"],
  ["a chat, without a space", "data:[DONE]"],
  ["a message", 'event: message_stop\ndata: {"type":"message_stop"}'],
  ["a message without the names of events", 'data: {"type": "message_stop"}'],
  ["a message whose type is not its first member", 'event: message_stop\r\ndata: {"x":1,"type":"message_stop"}'],
  ["a response", 'event: response.completed\ndata: {"type":"response.completed","resp'],
  ["a response that is cut short", 'event: response.incomplete\ndata: {"type":"response.incomplete"}'],
])("the end of %s is recognised", (_, event) => {
  expect(isLastEvent(event)).toBe(true);
});

it.each([
  ["another event", 'event: message_delta\ndata: {"type":"message_delta"}'],
  ["a text that looks like it", 'data: {"choices":[{"delta":{"content":"\\n\\ndata: [DONE]\\n\\n"}}]}'],
  ["a type that begins like it", 'data: {"type":"response.completed_part"}'],
  ["a text after it", "data: [DONE] so far"],
  ["nothing", ""],
])("%s is no end", (_, event) => {
  expect(isLastEvent(event)).toBe(false);
});
