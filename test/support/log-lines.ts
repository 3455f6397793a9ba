import { expect } from "vitest";
import type { Stack } from "./stack.ts";

type Line = Readonly<Record<string, unknown>>;

/** The log lines of a request: that of the gateway and, if it called a service alone, that of the service. */
export async function linesOf(stack: Stack, requestId: string | null, message = "request"): Promise<Line[]> {
  const find = () =>
    stack
      .log()
      .split("\n")
      .filter((line) => requestId && line.includes(requestId))
      .map((line) => JSON.parse(line))
      .filter((line) => line.msg === message && line.request_id === requestId);
  await expect.poll(() => find().length).toBeGreaterThan(0);
  return find();
}
