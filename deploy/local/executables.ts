import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Where servers are installed that are not on everybody's PATH. */
const installDirectories = [
  "/usr/sbin",
  "/usr/local/sbin",
  "/usr/local/bin",
  "/usr/local/mysql/bin",
  "/opt/homebrew/bin",
];

export function findExecutable(name: string): string | undefined {
  const directories = [...(process.env.PATH ?? "").split(delimiter).filter(Boolean), ...installDirectories];
  return directories.map((directory) => join(directory, name)).find(isExecutable);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
