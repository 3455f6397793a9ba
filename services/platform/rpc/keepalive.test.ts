import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Http2Connection } from "../http2/connection.ts";
import { keepAlive } from "./keepalive.ts";

beforeEach(() => vi.useFakeTimers());

afterEach(() => vi.useRealTimers());

/** A connection whose peer answers this many pings. */
function connectionWith(answers: number) {
  let answered = 0;
  return {
    destroyed: false,
    destroy() {
      this.destroyed = true;
    },
    ping(onAnswer: () => void) {
      answered += 1;
      if (answered <= answers) setTimeout(onAnswer, 10);
    },
  };
}

it.each([0, 1, 4])("closes a connection within 15 seconds of its last answer: %i", (answers) => {
  const connection = connectionWith(answers);
  keepAlive(connection as unknown as Http2Connection);
  vi.advanceTimersByTime(answers * 10_000 + 14_000);
  expect(connection.destroyed).toBe(false);
  // Plus some turns: what has arrived is read before it pings and before it closes.
  vi.advanceTimersByTime(1_004);
  expect(connection.destroyed).toBe(true);
});

it("does not close a connection once stopped", () => {
  const connection = connectionWith(0);
  const stop = keepAlive(connection as unknown as Http2Connection);
  vi.advanceTimersByTime(12_000);
  stop();
  vi.advanceTimersByTime(60_000);
  expect(connection.destroyed).toBe(false);
});

it("does not close a connection whose answer has arrived but was not read yet", () => {
  const connection = connectionWith(0);
  // A blocked process reads only after the due timers.
  connection.ping = (onAnswer) => setTimeout(() => setImmediate(onAnswer), 5_000);
  keepAlive(connection as unknown as Http2Connection);
  vi.advanceTimersByTime(60_000);
  expect(connection.destroyed).toBe(false);
});

it("sends nothing to a closed peer before its data is read", () => {
  const connection = connectionWith(0);
  const ping = vi.spyOn(connection, "ping");
  setTimeout(() => setImmediate(() => connection.destroy()), 10_000);
  keepAlive(connection as unknown as Http2Connection);
  vi.advanceTimersByTime(60_000);
  expect(ping).not.toHaveBeenCalled();
});

it("leaves no timer of a ping that was answered, and none at all once stopped", () => {
  const stop = keepAlive(connectionWith(1) as unknown as Http2Connection);
  const ofPings = vi.getTimerCount();
  vi.advanceTimersByTime(10_100);
  expect(vi.getTimerCount()).toBe(ofPings);
  vi.advanceTimersByTime(10_000);
  stop();
  expect(vi.getTimerCount()).toBe(0);
});
