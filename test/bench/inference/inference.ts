import { writeFile } from "node:fs/promises";
import { waitFor } from "../../../deploy/local/readiness.ts";
import { StartError } from "../../../deploy/local/start-error.ts";
import type { Context, Outcome } from "../context.ts";
import { fillPresets, fillTenants } from "../fill.ts";
import { firstWarmUpSeconds, type Lane, measure } from "../measure.ts";
import type { GatewayName } from "../options.ts";
import type { Room, Side, Target } from "../processes.ts";
import { say, showProgress } from "../progress.ts";
import type { Tenant } from "../tenant.ts";
import { type HeldStreams, holdStreams } from "./held-streams.ts";
import { openNginx } from "./nginx.ts";
import { openPortkey } from "./portkey.ts";
import { aimsTable, type Figures, figuresTable, heldTable } from "./report.ts";
import { bodyOf, type Kind, plainModel, presetModel, requestTo, taskOf } from "./requests.ts";
import { openUpstream } from "./upstream-process.ts";

/** A way to the upstream, and the model that is asked for. */
interface Way {
  readonly gateway: Figures["gateway"];
  readonly target: Target;
  readonly model: string;
}

interface Scenario {
  readonly name: Figures["scenario"];
  readonly kind: Kind;
  readonly connections: readonly number[];
}

const scenarios: readonly Scenario[] = [
  { name: "whole", kind: "whole", connections: [1, 8, 64] },
  { name: "50 chunks", kind: { chunks: 50 }, connections: [1, 8, 64] },
  { name: "first byte", kind: { chunks: 1 }, connections: [1] },
];
/** By how many seconds the first warm-up is longer, in a run of usual length. */
const firstWarmUpLonger = 3;
/** The preset of the fixture is longer than this. */
const presetBytesMin = 500;

/** Sends requests to one upstream through each of the gateways, and to the upstream itself. */
export async function measureInference({ load, setpoint, room, options }: Context): Promise<Outcome> {
  const { side, databases } = setpoint;
  const { timing } = options;
  const [tenant] = (await fillTenants(databases, 0, 1)) as [Tenant];
  await fillPresets(databases, { tenant: 0, tenants: 1, each: 1, firstId: 0 });
  const upstream = await openUpstream(room);
  await pointAt(side, upstream, tenant, room.signal);
  const ways: Way[] = [
    { gateway: "none", target: upstream, model: plainModel },
    ...(await openOthers(options.gateways, room, upstream)),
    { gateway: "setpoint", target: side, model: plainModel },
    { gateway: "setpoint, preset", target: side, model: presetModel },
  ];
  const requestOf = ({ target, model }: Way, kind: Kind): string =>
    requestTo(target.name, tenant, upstream.port, bodyOf(model, kind));

  const figures: Figures[] = [];
  for (const { name: scenario, kind, connections } of scenarios) {
    const lanes = ways.map((way): Lane => {
      // What a preset adds must have come to the upstream, too.
      const bytesUpstreamMin = bodyOf(plainModel, kind).length + (way.model === presetModel ? presetBytesMin : 0);
      return { side: way.target, task: taskOf(requestOf(way, kind), kind, bytesUpstreamMin) };
    });
    for (const concurrency of connections) {
      const isFirst = figures.length === 0;
      const warmUpSeconds = isFirst ? firstWarmUpSeconds(timing, firstWarmUpLonger) : timing.warmUpSeconds;
      const measurements = await measure(load, lanes, { ...timing, concurrency, warmUpSeconds }, (round) =>
        showProgress(`${scenario}, ${concurrency} connections: round ${round} of ${timing.rounds}`),
      );
      for (const [index, measurement] of measurements.entries()) {
        const { gateway } = ways[index] as Way;
        figures.push({ scenario, gateway, concurrency, ...measurement });
      }
      say(`${scenario}, ${concurrency} connections: measured`);
    }
  }

  const held: HeldStreams[] = [];
  for (const way of ways.filter(({ gateway }) => gateway !== "none" && gateway !== "setpoint")) {
    showProgress(`open streams through ${way.gateway}`);
    const request = requestOf(way, "held");
    held.push(await holdStreams(load, way.target, { gateway: way.gateway, request, timing }));
    way.target.rotateLogs();
  }

  const faults = [
    ...figures
      .filter(({ errors }) => errors > 0)
      .map(
        (each) => `${each.gateway}, ${each.scenario}: ${each.errors} errors, such as: ${each.firstErrors.join("; ")}`,
      ),
    ...held.filter(({ broken }) => broken > 0).map(({ gateway, broken }) => `${gateway}: ${broken} streams broke off`),
  ];
  const text = [figuresTable(figures), heldTable(held), aimsTable(figures, held)].join("\n\n");
  return { text, json: { timing, figures, held, faults }, faults };
}

/** The other gateways, as far as they can be had. */
async function openOthers(names: readonly GatewayName[], room: Room, upstream: Target): Promise<Way[]> {
  const ways: Way[] = [];
  for (const name of names) {
    if (name === "setpoint") continue;
    try {
      const target = await (name === "nginx" ? openNginx(room, upstream.port) : openPortkey(room));
      ways.push({ gateway: name, target, model: plainModel });
    } catch (error) {
      room.signal.throwIfAborted();
      say(`\nNOT MEASURED: ${name} cannot be had here. ${(error as Error).message}\n`);
    }
  }
  return ways;
}

/** Gives the gateway its upstream, and waits until it takes requests for it. */
async function pointAt(side: Side, upstream: Target, { apiKeys }: Tenant, signal: AbortSignal): Promise<void> {
  const entry = {
    name: "bench",
    base_url: `http://127.0.0.1:${upstream.port}/v1`,
    dialects: ["chat/completions"],
    models: ["*"],
  };
  await writeFile(side.upstreamsFile, JSON.stringify({ upstreams: [entry] }));
  const lookForFault = async (): Promise<string | undefined> => {
    const response = await fetch(`http://127.0.0.1:${side.port}/api/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKeys[0]}`, "content-type": "application/json" },
      body: bodyOf(plainModel, "whole"),
    });
    const text = await response.text();
    if (response.status !== 200 && response.status !== 404) throw new StartError(`No inference: ${text}`);
    return response.ok ? undefined : text;
  };
  await waitFor({ title: "Inference", logFile: side.upstreamsFile, lookForFault, signal });
}
