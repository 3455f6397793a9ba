import { type Logger, pino } from "pino";
import type { LogLevel } from "../process/config.ts";

export type { Logger } from "pino";

/**
 * JSON lines on standard output. Nothing that holds a key, a token, a body or a prompt may be passed to it.
 * Lines are written in the background, so that a slow reader of the log never slows a call.
 */
export function createLogger(processName: string, level: LogLevel): Logger {
  return pino(
    {
      level,
      base: { process: processName, pid: process.pid },
      messageKey: "message",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ dest: 1, sync: false, minLength: 8_192, periodicFlush: 100 }),
  );
}

/** A logger for code that runs outside of a process of ours, such as tests. */
export function silentLogger(): Logger {
  return pino({ level: "silent" });
}
