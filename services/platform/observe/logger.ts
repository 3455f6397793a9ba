import { type Logger, pino } from "pino";
import { isoTimeWriter } from "../domain/iso-time.ts";
import type { LogLevel } from "../process/config.ts";
import { StandardOutput } from "./standard-output.ts";

export type { Logger } from "pino";

/**
 * JSON lines on standard output. Nothing that contains a key, a token, a body or a prompt may be passed to it. Lines
 * are written in the background, so that a slow reader of the log never slows down a call; if it is too slow, some are
 * lost, and a line says how many.
 */
export function createLogger(processName: string, level: LogLevel): Logger {
  const isoTime = isoTimeWriter();
  const logger: Logger = pino(
    {
      level,
      base: { process: processName, pid: process.pid },
      messageKey: "message",
      timestamp: () => `,"time":"${isoTime(Date.now())}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    new StandardOutput((lines) =>
      logger.warn({ lines }, "lines of this log were lost here: they could not be written"),
    ),
  );
  return logger;
}

/** A logger for code that runs outside of a process of ours, such as tests. */
export function silentLogger(): Logger {
  return pino({ level: "silent" });
}
