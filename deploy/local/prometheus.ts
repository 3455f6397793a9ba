import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { type BackgroundProcess, startInBackground } from "./background-process.ts";
import { type Home, repositoryRoot } from "./home.ts";
import type { Prometheus } from "./install-prometheus.ts";
import type { Instance } from "./instances.ts";
import { findFreePort, loopbackHost } from "./ports.ts";
import { writePrivateFile } from "./private-file.ts";
import { lookForHttpFault, waitUntilUp } from "./readiness.ts";
import { probePort } from "./services.ts";

const alertsFile = join(repositoryRoot, "deploy/kubernetes/components/prometheus-operator/alerts.yaml");

/** Kubernetes sets this label for every pod, and the dashboards query by it. */
const namespace = "local";

/** Another port is used if this one is taken. */
const portDefault = 9090;

interface PrometheusOptions {
  readonly program: Prometheus;
  readonly home: Home;
  readonly instances: readonly Instance[];
  /** The environment shared by all instances; each adds its own variables. */
  readonly environment: NodeJS.ProcessEnv;
}

/** Prepares a Prometheus that scrapes every process of this run and has the alerts. */
export async function preparePrometheus(options: PrometheusOptions) {
  const { program, home, instances, environment } = options;
  const folder = join(home.path, "prometheus");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const rulesFile = join(folder, "alerts.yml");
  const configFile = join(folder, "prometheus.yml");
  const { spec } = parse(readFileSync(alertsFile, "utf8"));
  // JSON is valid YAML.
  writePrivateFile(rulesFile, JSON.stringify(spec));
  const targets = instances
    .filter(({ service }) => service !== "echo")
    .map(({ service, name, environment: own }) => ({
      targets: [`${loopbackHost}:${probePort(service, { ...environment, ...own })}`],
      labels: { namespace, pod: name },
    }));
  const config = {
    global: { scrape_interval: "5s", evaluation_interval: "15s" },
    rule_files: [rulesFile],
    scrape_configs: [{ job_name: "setpoint", static_configs: targets }],
  };
  writePrivateFile(configFile, JSON.stringify(config));
  const address = `${loopbackHost}:${await findFreePort(portDefault)}`;
  const url = `http://${address}`;
  const logFile = home.logFile("prometheus");
  const args = [
    `--config.file=${configFile}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
    "--storage.tsdb.retention.time=7d",
    "--storage.tsdb.retention.size=512MB",
    `--web.listen-address=${address}`,
    ...program.args,
  ];
  const start = (signal: AbortSignal, onSpawn: (pid: number) => void): Promise<BackgroundProcess> => {
    const running = startInBackground({ command: program.daemon, args, env: process.env, logFile });
    onSpawn(running.pid);
    const lookForFault = () => lookForHttpFault(`${url}/-/ready`);
    return waitUntilUp(running, { title: "Prometheus", logFile, lookForFault, signal });
  };
  return { url, start };
}
