import { afterAll, afterEach } from "vitest";
import { watchStatements } from "./statement-watch.ts";

const faults = watchStatements();

// After each test, so that the one fails that has sent the statement; after all, for what was sent outside of one.
afterEach(tellFaults);
afterAll(tellFaults);

function tellFaults(): void {
  const found = [...new Set(faults.splice(0))];
  if (found.length > 0) throw new Error(`Statements that would fail on Vitess:\n${found.join("\n")}`);
}
