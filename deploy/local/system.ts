import { createHash } from "node:crypto";
import type { BackgroundProcess } from "./background-process.ts";
import { buildConsole } from "./console.ts";
import { baseUrl, findKeys, type Keys, writeCredentials } from "./credentials.ts";
import { findDataFlavor, prepareDatabase } from "./database.ts";
import { databaseUrl } from "./database-connection.ts";
import { findDatabaseServer } from "./database-server.ts";
import { createDemo } from "./demo.ts";
import { reportFailures } from "./failure-report.ts";
import { type Home, openHome } from "./home.ts";
import { findPrometheus } from "./install-prometheus.ts";
import { type Instance, planInstances } from "./instances.ts";
import { choosePorts } from "./ports.ts";
import { say, step } from "./progress.ts";
import { preparePrometheus } from "./prometheus.ts";
import { waitFor } from "./readiness.ts";
import { claimHome, type RunRecord } from "./run-record.ts";
import {
  compileAhead,
  type DatabaseUrls,
  lookForServiceFault,
  runServiceCommand,
  serviceEnvironment,
  startService,
} from "./services.ts";
import { ensureSigningKey } from "./signing-key.ts";
import { FailedStart, StartError } from "./start-error.ts";
import { summary } from "./summary.ts";
import { type Supervised, supervise } from "./supervisor.ts";
import { syncUpstreams } from "./upstreams.ts";

interface SystemOptions {
  /** Whether Prometheus runs, too. */
  readonly observe: boolean;
  /** Abort it to stop. The current step ends then, unless it installs something: that is never left half done. */
  readonly signal: AbortSignal;
  /** Called with a function that closes something, right after it was opened. */
  readonly opened: (close: () => Promise<void> | void) => void;
}

interface Context extends SystemOptions {
  readonly home: Home;
  readonly record: RunRecord;
}

/** Starts everything, step by step, and returns when it is ready for callers. */
export async function openSystem(options: SystemOptions): Promise<void> {
  const { opened, signal } = options;
  const given = process.env;
  const home = openHome(given);
  const record = await claimHome(home.runFile, home.path);
  opened(record.remove);
  const ports = await choosePorts(given);
  const instances = await planInstances(given, ports);
  record.update({ baseUrl: baseUrl(ports) });
  const upstreams = { file: home.upstreamsFile, environment: given, echoPort: ports.ECHO_PORT, say };
  opened(await syncUpstreams(upstreams));
  say("Starting Setpoint");
  const prometheus = options.observe ? await findPrometheus((text) => say(`  ${text}`)) : undefined;
  const context = { ...options, home, record };
  // Both run while the database starts, which takes longer. Their results are awaited further below.
  const compiling = compileAhead(home, signal);
  compiling.catch(() => {});
  const building = buildConsole(home, signal);
  building.catch(() => {});
  const urls = givenDatabases(given) ?? (await openDatabase(context));
  const environment = { ...serviceEnvironment(home, ports, urls), UPSTREAMS_FILE: home.upstreamsFile };
  const service = { home, environment, signal };
  const runOrganization = (args: readonly string[]) => runServiceCommand("organization", args, service);
  await step("schema", async (detail) => {
    const migration = { ...service, onLine: reportWaits() };
    const printed = await Promise.all(
      (["preset", "organization"] as const).map((name) => runServiceCommand(name, ["migrate"], migration)),
    );
    detail([...new Set(printed)].join(", "));
  });
  await step("signing key", (detail) => detail(ensureSigningKey(home.signingKeyFile) ? "made" : "kept"));
  const keys = await step("demo", async (detail) => {
    const kept = findKeys(home.credentialsFile);
    if (kept) detail("kept");
    return kept ?? (await makeKeys(runOrganization, detail));
  });
  writeCredentials(home.credentialsFile, keys, ports, urls);
  await step("console", async (detail) => detail(await building));
  await compiling;
  const [signInPath] = await Promise.all([
    makeSignInPath(runOrganization, keys),
    openServices(context, environment, instances),
  ]);
  if (prometheus) await openPrometheus(context, { program: prometheus, home, instances, environment });
  say(summary({ home, ports, instances, keys, signInPath }));
}

/** The databases on the user's own server; undefined if none are given. */
function givenDatabases({
  PRESET_DATABASE_URL,
  ORGANIZATION_DATABASE_URL,
}: NodeJS.ProcessEnv): DatabaseUrls | undefined {
  if (PRESET_DATABASE_URL && ORGANIZATION_DATABASE_URL) return { PRESET_DATABASE_URL, ORGANIZATION_DATABASE_URL };
  if (!PRESET_DATABASE_URL && !ORGANIZATION_DATABASE_URL) return undefined;
  const missing = PRESET_DATABASE_URL ? "ORGANIZATION_DATABASE_URL" : "PRESET_DATABASE_URL";
  throw new StartError(
    `${missing} is not set, but the other database URL is. Set both, or neither for a private database.`,
  );
}

function openDatabase(context: Context): Promise<DatabaseUrls> {
  const { home, signal, opened } = context;
  return step("database", async (detail) => {
    const server = await findDatabaseServer({
      flavor: findDataFlavor(home.dataDir),
      ownServer: `set PRESET_DATABASE_URL and ORGANIZATION_DATABASE_URL to two empty databases on a server of yours,
    for example mysql://user:password@host:3306/setpoint_preset`,
      report: (text) => say(`  ${text}`),
    });
    signal.throwIfAborted();
    const logFile = home.logFile("database");
    const database = await prepareDatabase({ server, dataDir: home.dataDir, logFile, durable: true, signal });
    opened(database.close);
    const supervised = keepUp("database", context, database.start);
    opened(supervised.stop);
    await supervised.up;
    detail(server.title);
    return {
      PRESET_DATABASE_URL: databaseUrl(database.serverUrl, "setpoint_preset"),
      ORGANIZATION_DATABASE_URL: databaseUrl(database.serverUrl, "setpoint_organization"),
    };
  });
}

/** Passes on, once for each reason, that a migration waits: for a minute, it would look as if nothing happened. */
function reportWaits(): (line: string) => void {
  const reasons = new Set<string>();
  return (line) => {
    const reason = /^waiting for .*?: (.*)/.exec(line)?.[1];
    if (reason === undefined || reasons.has(reason)) return;
    reasons.add(reason);
    say(`  ${line}`);
  };
}

async function makeKeys(
  run: (args: readonly string[]) => Promise<string>,
  detail: (text: string) => void,
): Promise<Keys> {
  const { isNew, api_key, management_key } = await createDemo(run);
  detail(
    isNew
      ? "organization with three members and two keys"
      : "two new keys, for the old ones were lost; those still work",
  );
  return { api_key, management_key };
}

/** The path that opens the console without a key; undefined if the management key does not work. */
async function makeSignInPath(
  run: (args: readonly string[]) => Promise<string>,
  { management_key }: Keys,
): Promise<string | undefined> {
  const hash = createHash("sha256").update(management_key).digest("hex");
  try {
    return await run(["create-console-ticket", "--key", hash]);
  } catch {
    // The key from an earlier start may have been disabled since, or made for other databases than those of this start.
    return undefined;
  }
}

function openServices(context: Context, environment: NodeJS.ProcessEnv, instances: readonly Instance[]): Promise<void> {
  const { home, opened, signal, record } = context;
  const open = ({ service, name, environment: own }: Instance): Supervised =>
    keepUp(name, context, (startSignal) => {
      const options = { processName: name, home, environment: { ...environment, ...own }, signal: startSignal };
      return startService(service, options, (pid) => record.update({ children: { [name]: pid } }));
    });
  const openAll = (chosen: readonly Instance[]): Supervised[] => {
    const supervised = chosen.map(open);
    opened(async () => {
      await Promise.all(supervised.map(({ stop }) => stop()));
    });
    return supervised;
  };
  return step("processes", async (detail) => {
    const behind = openAll(instances.filter(({ service }) => service !== "gateway"));
    const gateways = openAll(instances.filter(({ service }) => service === "gateway"));
    await Promise.all([...behind, ...gateways].map(({ up }) => up));
    for (const { service, name, environment: own } of instances) {
      await waitUntilReady({
        title: `The ${name} process`,
        logFile: home.logFile(name),
        lookForFault: () => lookForServiceFault(service, { ...environment, ...own }),
        signal,
      });
    }
    detail(instances.map(({ name }) => (name === "echo" ? "echo upstream" : name)).join(", "));
  });
}

function openPrometheus(context: Context, options: Parameters<typeof preparePrometheus>[0]): Promise<void> {
  return step("prometheus", async (detail) => {
    const { url, start } = await preparePrometheus(options);
    const supervised = keepUp("prometheus", context, (signal) =>
      start(signal, (pid) => context.record.update({ children: { prometheus: pid } })),
    );
    context.opened(supervised.stop);
    await supervised.up;
    detail(url);
  });
}

/** However long it takes: a process that dies meanwhile is restarted. */
async function waitUntilReady(expected: Parameters<typeof waitFor>[0]): Promise<void> {
  for (;;) {
    try {
      return await waitFor(expected);
    } catch (error) {
      if (!(error instanceof FailedStart)) throw error;
      say(`  ${expected.title} is still waited for (${error.reason}), see ${expected.logFile}`);
    }
  }
}

function keepUp(name: string, { home, signal }: Context, start: (signal: AbortSignal) => Promise<BackgroundProcess>) {
  return supervise({ start, ...reportFailures(name, home.logFile(name), say), signal });
}
