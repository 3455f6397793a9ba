/** The value of a metric on a page of them, by the start of its line; 0 where there is none. */
export async function metricOf(metricsUrl: string, name: string, label = ""): Promise<number> {
  const page = await (await fetch(metricsUrl)).text();
  const line = page.split("\n").find((each) => each.startsWith(name) && each.includes(label));
  return Number(line?.split(" ").at(-1) ?? 0);
}
