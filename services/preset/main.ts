import { endOnSignals } from "../platform/process/end-on-signals.ts";

endOnSignals();
// Takes a second, in which signals arrive, too.
await import("./command-line.ts");
