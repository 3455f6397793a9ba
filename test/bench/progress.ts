const { stderr } = process;

/** Goes to standard error, so that standard output holds nothing but results. */
export function say(text: string): void {
  stderr.write(stderr.isTTY ? `\r\x1b[K${text}\n` : `${text}\n`);
}

/** A line that the next one replaces; only where somebody is watching. */
export function showProgress(text: string): void {
  if (stderr.isTTY) stderr.write(`\r\x1b[K${text}`);
}
