import { describe, expect, it } from "vitest";
import { AnswerTail } from "./answer-tail.ts";

function tailOf(pieces: readonly string[]): AnswerTail {
  const tail = new AnswerTail();
  for (const piece of pieces) tail.add(Buffer.from(piece));
  return tail;
}

describe("the tail of an answer", () => {
  it("is all of a short answer, in one piece or many", () => {
    expect(tailOf([]).text()).toBe("");
    expect(tailOf(["abc"]).text()).toBe("abc");
    expect(tailOf(["a", "", "b", "c"]).text()).toBe("abc");
  });

  it.each([1, 7, 1_000, 4_095, 4_096, 4_097, 20_000, 100_000])(
    "is the end of a long answer, in pieces of %i",
    (size) => {
      const text = Array.from({ length: 30_000 }, (_, index) => `{${index},`).join("");
      const pieces = text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
      const tail = tailOf(pieces);
      expect(tail.text()).toBe(text.slice(-4_096));
      expect(tail.start).toBe(text.slice(0, Math.min(size, 4_096)));
    },
  );

  it.each([1, 2, 3])("comes with the start of the answer after %i comments", (count) => {
    const comments = Array<string>(count).fill(": processing\n\n");
    expect(tailOf([...comments, 'data: {"a":1}\n\n', 'data: {"a":2}\n\n']).start).toBe('data: {"a":1}\n\n');
  });

  it.each([
    ["alone", 0, []],
    ["after others", 0, ["data: 1\n\n", "data: 2\n\n"]],
    ["longer than what is kept", 20_000, ["data: 1\n\n"]],
    ["longer than what is kept, and alone", 20_000, []],
  ])("knows the beginning of the last event: %s", (_, length, before) => {
    const event = `event: last\ndata: ${"x".repeat(length)}`;
    for (const end of ["\n", "\r\n", "\r"]) {
      const lines = (text: string) => text.replaceAll("\n", end);
      const whole = lines(event).slice(0, 100);
      expect(tailOf([...before, `${event}\n\n`].map(lines)).lastEvent).toBe(whole.trimEnd());
      expect(tailOf([...before, `data: 3\n\n${event}\n\n`].map(lines)).lastEvent).toBe(whole.trimEnd());
    }
  });

  it("knows no event of an empty stream", () => {
    expect(tailOf([]).lastEvent).toBe("");
  });
});
