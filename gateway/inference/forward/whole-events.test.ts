import { describe, expect, it } from "vitest";
import { WholeEvents } from "./whole-events.ts";

/** What is passed on with each piece, and at the end. */
function letThrough(pieces: readonly string[]): { sent: string[]; rest: string; isInside: boolean } {
  const events = new WholeEvents();
  const sent = pieces.map((piece) => events.add(Buffer.from(piece))?.toString() ?? "");
  const { isInside } = events;
  return { sent, rest: events.rest()?.toString() ?? "", isInside };
}

describe.each([
  ["LF", "\n"],
  ["CR", "\r"],
  ["CR LF", "\r\n"],
])("events whose lines end with %s", (_name, end) => {
  const event = `event: a${end}data: {"b":1}${end}${end}`;

  it("are passed on at once if complete", () => {
    expect(letThrough([event, event + event])).toMatchObject({ sent: [event, event + event], rest: "" });
  });

  it("are held back until complete wherever they are cut, without loss", () => {
    for (let cut = 1; cut < event.length; cut++) {
      const pieces = [event + event.slice(0, cut), event.slice(cut)];
      const { sent, rest } = letThrough(pieces);
      expect(sent.join("") + rest, `cut at ${cut}`).toBe(event + event);
      // Between CR and LF an event is complete.
      const isWhole = end === "\r\n" && cut === event.length - 1;
      expect(sent[0], `cut at ${cut}`).toBe(isWhole ? event + event.slice(0, cut) : event);
    }
  });

  it("are passed on however small the pieces are", () => {
    const { sent, rest } = letThrough([...(event + event)]);
    expect((sent.join("") + rest).startsWith(event + event)).toBe(true);
    expect(sent.filter((each) => each.includes("data"))).toHaveLength(2);
    expect(rest.trim()).toBe("");
  });

  it("do not hold back a comment between them", () => {
    const comment = `: ping${end}`;
    expect(letThrough([event, comment, `${comment}: half`]).sent).toEqual([event, comment, comment]);
    expect(letThrough([event + comment + event.slice(0, 5)]).sent).toEqual([event + comment]);
  });
});

it("scans a long comment only once, however small the pieces", () => {
  const comment = `: ${"x".repeat(60_000)}\n`;
  const startedAt = performance.now();
  const { sent } = letThrough([...comment]);
  expect([sent.slice(0, -1).join(""), sent.at(-1) === comment]).toEqual(["", true]);
  // Scanning all of it again with each piece would take about 20 seconds.
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

it("returns everything received at the end of a stream, complete or not", () => {
  expect(letThrough(["data: 1\n\ndata: [DONE]"])).toEqual({
    sent: ["data: 1\n\n"],
    rest: "data: [DONE]",
    isInside: false,
  });
  expect(letThrough(["data: [DONE]\n"]).rest).toBe("data: [DONE]\n");
});

it("passes on an oversized event in pieces, and later events complete", () => {
  const piece = "x".repeat(40 * 1024);
  const { sent, rest, isInside } = letThrough([`data: ${piece}`, piece, piece, "\n", "\ndata: 2", "\n\n"]);
  expect(sent).toEqual(["", `data: ${piece}${piece}`, piece, "", "\n\n", "data: 2\n\n"]);
  expect([rest, isInside]).toEqual(["", false]);
  expect(letThrough([`data: ${piece}`, piece]).isInside).toBe(true);
});
