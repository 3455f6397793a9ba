import { setTimeout as delay } from "node:timers/promises";
import { monotonicMs } from "../../services/platform/process/clock.ts";
import type { BackgroundProcess, Exit } from "./background-process.ts";
import { lastLines } from "./last-lines.ts";
import { StartError } from "./start-error.ts";

interface Expectation {
  /** What is waited for, as it reads at the beginning of a sentence. */
  readonly title: string;
  readonly logFile: string;
  /** Looks once, and says what is missing; undefined where nothing is. */
  readonly lookForFault: () => Promise<string | undefined>;
  readonly signal: AbortSignal;
}

const readyTimeoutMs = 60_000;
const pollPauseMs = 25;

/** Returns a process that was just started once it is up; stops it and throws where it never is. */
export async function waitUntilUp(process: BackgroundProcess, expected: Expectation): Promise<BackgroundProcess> {
  let exit: Exit | undefined;
  void process.exited.then((how) => {
    exit = how;
  });
  try {
    await waitFor(expected, () => exit?.reason);
    return process;
  } catch (error) {
    await process.stop();
    throw error;
  }
}

/** Waits until there is no fault left, for a minute at most, or until there is a reason to stop waiting. */
export async function waitFor(
  expected: Expectation,
  lookForEnd: () => string | undefined = () => undefined,
): Promise<void> {
  const { title, logFile, lookForFault, signal } = expected;
  const deadline = monotonicMs() + readyTimeoutMs;
  for (;;) {
    const fault = await lookForFault();
    signal.throwIfAborted();
    const end =
      lookForEnd() ?? (monotonicMs() > deadline ? `not ready within ${readyTimeoutMs / 1000} s: ${fault}` : undefined);
    if (end) throw new StartError(`${title} did not start (${end}). The end of ${logFile}:\n${lastLines(logFile)}`);
    if (fault === undefined) return;
    await delay(pollPauseMs);
  }
}

/** What an HTTP probe such as /readyz lacks of an answer 200. */
export async function lookForHttpFault(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    const body = await response.text();
    return response.ok ? undefined : `${url} answers ${response.status}: ${body}`;
  } catch (error) {
    const { cause, message } = error as Error;
    return `${url}: ${cause instanceof Error ? cause.message : message}`;
  }
}
