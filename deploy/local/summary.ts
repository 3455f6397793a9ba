import { baseUrl, type Keys } from "./credentials.ts";
import type { Home } from "./home.ts";
import type { Instance } from "./instances.ts";
import { loopbackHost, type Ports } from "./ports.ts";

interface Started {
  readonly home: Home;
  readonly ports: Ports;
  readonly instances: readonly Instance[];
  readonly keys: Keys;
  /** Undefined if the management key does not work. */
  readonly signInPath: string | undefined;
}

/** The text printed after a start: what can be done with the running system. */
export function summary({ home, ports, instances, keys, signInPath }: Started): string {
  // Each gateway counts only its own requests.
  const metrics = instances
    .filter(({ service }) => service === "gateway")
    .map(({ environment }) => `http://${loopbackHost}:${environment.METRICS_PORT ?? ports.METRICS_PORT}/metrics`);
  const url = `${baseUrl(ports)}/api/v1`;
  const created = {
    model: "echo/small",
    temperature: 0.2,
    messages: [{ role: "system", content: "Answer in one sentence." }],
  };
  const used = { model: "@preset/my-first-preset", messages: [{ role: "user", content: "What is a preset?" }] };
  return `
Setpoint is ready at ${baseUrl(ports)}

${waysIntoConsole(home, ports, signInPath)}

Create a preset:
  curl ${url}/presets/my-first-preset/chat/completions \\
    -H 'Authorization: Bearer ${keys.api_key}' \\
    -H 'Content-Type: application/json' \\
    -d '${JSON.stringify(created)}'

List the members of the organization:
  curl ${url}/organization/members \\
    -H 'Authorization: Bearer ${keys.management_key}'

Use the preset (echo/small is not a real model: it answers with what it was sent):
  curl ${url}/chat/completions \\
    -H 'Authorization: Bearer ${keys.api_key}' \\
    -H 'Content-Type: application/json' \\
    -d '${JSON.stringify(used)}'

gRPC       preset ${loopbackHost}:${ports.PRESET_GRPC_PORT}, organization ${loopbackHost}:${ports.ORGANIZATION_GRPC_PORT}
Connect    preset ${loopbackHost}:${ports.PRESET_HTTP_PORT}, organization ${loopbackHost}:${ports.ORGANIZATION_HTTP_PORT}
Reference  ${baseUrl(ports)}/docs
Metrics    ${metrics.join(", ")}
Keys       ${home.credentialsFile}
Logs       ${home.logs}
Next       "Use a preset" in README.md

Ctrl-C stops everything; the data stays.`;
}

function waysIntoConsole(home: Home, ports: Ports, signInPath: string | undefined): string {
  if (signInPath !== undefined) {
    return `Open the console (this link signs in once, within five minutes):
  ${baseUrl(ports)}${signInPath}`;
  }
  return `The management key in ${home.credentialsFile} does not work: it was disabled, or is of another database.
To get new keys, remove the file and start again.

Open the console:
  ${baseUrl(ports)}/console/`;
}
