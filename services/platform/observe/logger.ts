import { type Logger, pino } from "pino";
import { isoTimeWriter } from "../domain/iso-time.ts";
import type { LogLevel } from "../process/config.ts";

export type { Logger } from "pino";

/**
 * JSON lines on standard output. Nothing that holds a key, a token, a body or a prompt may be passed to it.
 * Lines are written in the background, so that a slow reader of the log never slows a call.
 */
export function createLogger(processName: string, level: LogLevel): Logger {
  const isoTime = isoTimeWriter();
  return pino(
    {
      level,
      base: { process: processName, pid: process.pid },
      messageKey: "message",
      timestamp: () => `,"time":"${isoTime(Date.now())}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    standardOutput(),
  );
}

/** Takes lines as bytes: of text, all that waits to be written would be copied and measured again for every line. */
function standardOutput() {
  const output = pino.destination({
    dest: 1,
    sync: false,
    minLength: 8_192,
    periodicFlush: 100,
    contentMode: "buffer",
  });
  return {
    write: (line: string) => output.write(Buffer.from(line) as unknown as string),
    flush: (onDone: (error?: Error) => void) => output.flush(onDone),
  };
}

/** A logger for code that runs outside of a process of ours, such as tests. */
export function silentLogger(): Logger {
  return pino({ level: "silent" });
}
