// What the examples share: the addresses and keys of the system that `npm start` runs, and sentences for what may be missing.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** What `npm start` has written for scripts. */
export function readCredentials() {
  const file = resolve(process.env.SETPOINT_HOME || `${root}.setpoint`, "credentials.json");
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return end(
      `${file} cannot be read, which "npm start" writes. Run "npm start" in another terminal, with the same SETPOINT_HOME if you set one, and try again when it says that Setpoint is ready.`,
    );
  }
}

/** For an address that nobody answers on. */
export function notRunning(address) {
  return end(
    `Nothing answers on ${address}. Run "npm start" in another terminal, and try again when it says that Setpoint is ready.`,
  );
}

export function end(sentence) {
  console.error(sentence);
  process.exit(1);
}
