import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import type { BackgroundProcess, Exit } from "./background-process.ts";
import { lastLines, mostInformativeLine } from "./last-lines.ts";
import { FailedStart } from "./start-error.ts";

interface Expectation {
  /** What is being waited for, as it reads at the beginning of a sentence. */
  readonly title: string;
  readonly logFile: string;
  /** Checks once, and says what is wrong; undefined if nothing is. */
  readonly lookForFault: () => Promise<string | undefined>;
  readonly signal: AbortSignal;
}

const readyTimeoutMs = 60_000;
const pollPauseMs = 25;

/** Returns a process that was just started once it is up; stops it and throws if it does not come up. */
export async function waitUntilUp(process: BackgroundProcess, expected: Expectation): Promise<BackgroundProcess> {
  try {
    await waitFor(expected, process.exited);
    return process;
  } catch (error) {
    await process.stop();
    throw error;
  }
}

/** Waits until no fault is left, for at most a minute, or until the process has ended. */
export async function waitFor(expected: Expectation, exited: Promise<Exit> = new Promise(() => {})): Promise<void> {
  const { lookForFault, signal } = expected;
  const deadline = monotonicMs() + readyTimeoutMs;
  let exit: Exit | undefined;
  // A check may take seconds if another program has the port: neither an exit nor Ctrl-C waits for its end.
  const end = Promise.withResolvers<undefined>();
  void exited.then((how) => {
    exit = how;
    end.resolve(undefined);
  });
  const onAbort = () => end.resolve(undefined);
  signal.addEventListener("abort", onAbort);
  try {
    for (;;) {
      const fault = await Promise.race([lookForFault(), end.promise]);
      signal.throwIfAborted();
      if (exit) throw failedStart(expected, exit);
      if (fault === undefined) return;
      if (monotonicMs() > deadline) {
        const reason = `not ready within ${readyTimeoutMs / 1000} s: ${fault}`;
        // Reported like a killed process, because the log does not say why.
        throw failedStart(expected, { reason, killed: true, isPermanent: false });
      }
      await delay(pollPauseMs);
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function failedStart({ title, logFile }: Expectation, { reason, killed, isPermanent }: Exit): FailedStart {
  const message = `${title} did not start (${reason}). The end of ${logFile}:\n${lastLines(logFile)}`;
  return new FailedStart(message, killed ? reason : `${reason}: ${mostInformativeLine(logFile)}`, isPermanent);
}

/**
 * Why an HTTP probe such as /readyz does not answer 200; undefined if it does. Not with `fetch`, which may be told to use
 * a proxy (NODE_USE_ENV_PROXY): that one does not reach this machine.
 */
export async function lookForHttpFault(url: string): Promise<string | undefined> {
  try {
    const request = get(url, { agent: false, signal: AbortSignal.timeout(5_000) });
    // A timeout during the body is also reported by the request, when nobody awaits it any more.
    request.on("error", () => {});
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const body = await text(response);
    return response.statusCode === 200 ? undefined : `${url} answers ${response.statusCode}: ${body}`;
  } catch (error) {
    return `${url}: ${(error as Error).message}`;
  }
}
