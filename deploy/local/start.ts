import { once } from "node:events";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { killBackgroundProcesses } from "./background-process.ts";
import { say } from "./progress.ts";
import { StartError } from "./start-error.ts";
import { openSystem } from "./system.ts";

/** npm forwards a Ctrl-C that the terminal has already sent to us: a second one counts only after this time. */
const secondSignalAfterMs = 500;

const stopping = new AbortController();
const closers: (() => Promise<void> | void)[] = [];
let signalledAt = 0;

function readArguments(args: readonly string[]): { readonly observe: boolean } {
  const unknown = args.find((arg) => arg !== "--observe");
  if (unknown === undefined) return { observe: args.length > 0 };
  throw new StartError(
    `"${unknown}" is not known. There is --observe, which runs Prometheus beside it:  npm start -- --observe`,
  );
}

function stop(reason: unknown): void {
  if (!stopping.signal.aborted) stopping.abort(reason);
}

for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(name, () => {
    if (signalledAt === 0) {
      signalledAt = monotonicMs();
      say("\nStopping (once more stops at once) ...");
      stop(name);
    } else if (monotonicMs() - signalledAt > secondSignalAfterMs) {
      killBackgroundProcesses();
      process.exit(1);
    }
  });
}

// A killed npm cannot tell us. It is our parent as long as it lives.
if (process.env.npm_lifecycle_event) {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) stop("npm has ended");
  }, 500).unref();
}

// The reader of our output may go away before us: a closed terminal, a pipe into `head`.
process.stdout.on("error", () => {});

try {
  await openSystem({
    observe: readArguments(process.argv.slice(2)).observe,
    signal: stopping.signal,
    opened: (close) => closers.push(close),
  });
  if (!stopping.signal.aborted) await once(stopping.signal, "abort");
} catch (error) {
  stop(error);
}
for (const close of closers.reverse()) {
  try {
    await close();
  } catch (error) {
    // Closing the rest matters more than why this one failed.
    say(`Not closed cleanly: ${error}`);
  }
}

const { reason } = stopping.signal;
if (reason instanceof Error) {
  process.stderr.write(`\n${reason instanceof StartError ? reason.message : reason.stack}\n`);
  process.exit(1);
}
say("Stopped.");
process.exit(0);
