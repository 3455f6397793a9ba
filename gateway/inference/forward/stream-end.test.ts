import { expect, it } from "vitest";
import { endsWithLastEvent } from "./stream-end.ts";

it.each([
  ["a chat", 'data: {"choices":[]}\n\ndata: [DONE]\n\n'],
  ["a chat, without a space", "data:[DONE]\r\n\r\n"],
  ["a message", 'event: message_stop\ndata: {"type":"message_stop"}\n\n'],
  ["a message without the names of events", 'data: {"type": "message_stop"}\n\n'],
  [
    "a message whose type is not its first member",
    'event: message_stop\r\ndata: {"x":1,"type":"message_stop"}\r\n\r\n',
  ],
  ["a response", 'event: response.completed\ndata: {"type":"response.completed","response":{}}\n\n'],
  ["a response that is cut short", 'event: response.incomplete\ndata: {"type":"response.incomplete"}\n\n'],
])("the end of %s is recognised", (_, tail) => {
  expect(endsWithLastEvent(tail)).toBe(true);
});

it.each([
  ["another event", 'event: message_delta\ndata: {"type":"message_delta"}\n\n'],
  ["an event behind the last one", 'data: [DONE]\n\ndata: {"error":{}}\n\n'],
  ["a text that looks like it", 'data: {"choices":[{"delta":{"content":"\\n\\ndata: [DONE]\\n\\n"}}]}\n\n'],
  ["a type that begins like it", 'data: {"type":"response.completed_part"}\n\n'],
  ["half of it", "data: [DO"],
  ["nothing", ""],
])("%s is no end", (_, tail) => {
  expect(endsWithLastEvent(tail)).toBe(false);
});
