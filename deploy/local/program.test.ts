import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { runProgram } from "./program.ts";

it("a program that has ended is still aborted while something that it started holds its output open", async () => {
  const stop = new AbortController();
  const printed = Promise.withResolvers<void>();
  const onLine = () => printed.resolve();
  const running = runProgram("sh", ["-c", "sleep 600 & echo started"], { signal: stop.signal, onLine });
  await printed.promise;
  // The shell ends now.
  await sleep(200);
  stop.abort(new Error("stopped"));
  await expect(running).rejects.toThrow("stopped");
});
