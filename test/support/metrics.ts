/** The sum of a metric on a metrics page, by its full name and parts of its labels; 0 if there is none. */
export async function metricOf(metricsUrl: string, name: string, ...labels: readonly string[]): Promise<number> {
  const page = await (await fetch(metricsUrl)).text();
  return page
    .split("\n")
    .filter((line) => /^\w+/.exec(line)?.[0] === name && labels.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}
