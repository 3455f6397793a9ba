import { findPrometheus, type Prometheus } from "../../deploy/local/install-prometheus.ts";
import { StartError } from "../../deploy/local/start-error.ts";

/** Undefined if none is available. That is an error only in CI, where nobody reads the output. */
export async function findPrometheusForTests(): Promise<Prometheus | undefined> {
  try {
    return await findPrometheus((text) => process.stderr.write(`${text}\n`));
  } catch (error) {
    if (process.env.CI || !(error instanceof StartError)) throw error;
    process.stderr.write(`\n*** SKIPPED: the tests of metrics with Prometheus. ${error.message}\n\n`);
    return undefined;
  }
}

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

/** The current result of a query; throws if Prometheus cannot parse the expression. */
export async function query(url: string, expr: string): Promise<readonly Series[]> {
  const answer = await fetch(`${url}/api/v1/query`, { method: "POST", body: new URLSearchParams({ query: expr }) });
  const { error, data } = (await answer.json()) as { error?: string; data: { result: Series[] } };
  if (error !== undefined) throw new Error(`${error}: ${expr}`);
  return data.result;
}
