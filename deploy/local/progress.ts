/** Prints one line for each step, with its duration. */
export async function step<T>(title: string, work: (detail: (text: string) => void) => Promise<T> | T): Promise<T> {
  const startedAt = performance.now();
  let detail = "";
  const result = await work((text) => {
    detail = text;
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  say(`  ${title.padEnd(14)}${detail} (${seconds} s)`);
  return result;
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
