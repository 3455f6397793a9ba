import { afterAll, afterEach } from "vitest";
import { noteProcessWatches } from "./process-watches.ts";
import { watchStatements } from "./statement-watch.ts";

const faults = watchStatements();
const endProcessWatches = noteProcessWatches();

// After each test, so that the test fails that sent the statement; after all, for statements sent outside of a test.
afterEach(reportFaults);
afterAll(reportFaults);
afterAll(endProcessWatches);

function reportFaults(): void {
  const found = [...new Set(faults.splice(0))];
  if (found.length > 0) throw new Error(`Statements that break the rules of statement-rules.ts:\n${found.join("\n")}`);
}
