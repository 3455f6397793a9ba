import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { DomainError, unavailable } from "../../services/platform/domain/domain-error.ts";
import { Metrics } from "../../services/platform/observe/metrics.ts";
import { TrustedProxies } from "./client-address.ts";
import { RefusedKeys } from "./refused-keys.ts";

const limit = { perSecond: 0.001, burst: 2 };
const refusal = new DomainError("unauthenticated", { reason: "KEY_UNKNOWN", message: "No such key." });

function from(remoteAddress: string): IncomingMessage {
  return { socket: { remoteAddress }, headers: {} } as unknown as IncomingMessage;
}

function open(): RefusedKeys {
  return new RefusedKeys(limit, new TrustedProxies([]), new Metrics("test"));
}

describe("an address", () => {
  it("is told that there were too many once its allowance is used up", () => {
    const keys = open();
    const answers = [1, 2, 3].map(() => keys.answerTo(from("192.0.2.1"), refusal));
    expect(answers).toMatchObject([refusal, refusal, { status: 429 }]);
    expect(() => keys.requireAllowance(from("192.0.2.1"))).toThrow(/Too many keys/);
    expect(() => keys.requireAllowance(from("192.0.2.2"))).not.toThrow();
  });

  it("is not blamed for a key that could not be looked up", () => {
    const keys = open();
    const outage = unavailable("The service cannot be reached.");
    for (let count = 0; count < 10; count += 1) expect(keys.answerTo(from("192.0.2.1"), outage)).toBe(outage);
    expect(() => keys.requireAllowance(from("192.0.2.1"))).not.toThrow();
  });

  it("is not forgotten when thousands of others are refused", () => {
    const keys = open();
    for (let count = 0; count < 2; count += 1) keys.answerTo(from("192.0.2.1"), refusal);
    for (let other = 0; other < 5_000; other += 1) {
      keys.answerTo(from(`10.0.${other >> 8}.${other & 255}`), refusal);
    }
    expect(() => keys.requireAllowance(from("192.0.2.1"))).toThrow(/Too many keys/);
  });
});
