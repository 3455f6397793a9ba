import { parseArgs } from "node:util";
import type { Timing } from "./measure.ts";
import { type Workload, workloads } from "./workloads.ts";

export type Mode = "compare" | "growth" | "depth" | "soak" | "inference" | "latency";

/** What inference is sent through. */
const gatewayNames = ["setpoint", "portkey", "nginx"] as const;
export type GatewayName = (typeof gatewayNames)[number];

export interface Options {
  readonly mode: Mode;
  readonly workloads: readonly Workload[];
  readonly gateways: readonly GatewayName[];
  readonly timing: Timing;
  /** Where a mode measures with several: with how many connections, in turn. */
  readonly concurrencies: readonly number[];
  readonly profile: boolean;
  /** A file, or "-" for standard output. */
  readonly json: string | undefined;
}

const concurrencies: readonly number[] = [1, 2, 4, 8, 16];
const latencyNames = ["create-new", "get", "members-200", "list-presets"];
const latencyWorkloads = workloads.filter(({ name }) => latencyNames.includes(name));
const secondsByMode: Partial<Record<Mode, number>> = { soak: 60, latency: 2 };

/** A fault in the command line, for its user. */
export class UsageError extends Error {}

export const usage = `npm run bench -- [options]

  --quick             about a minute in all
  --only NAME[,NAME]  only these workloads: ${workloads.map(({ name }) => name).join(", ")}
                      with --inference: only these gateways: ${gatewayNames.join(", ")}
  --rounds N          measured rounds of each workload on each side (5)
  --seconds S         length of a round (5; with --soak 60, with --latency 2)
  --concurrency N     connections, each with one request at a time (64; --inference has 1, 8 and 64; --latency ${concurrencies.join(", ")})
  --growth            cost at 1,000, 100,000 and 1,000,000 presets, instead of the comparison
  --depth             cost of first and last pages of long lists, instead of the comparison
  --soak              five minutes of mixed load for drift of latency and memory, instead of the comparison
  --latency           few connections, and the way of a lone request, instead of the comparison
  --inference         requests to an upstream through the gateway, beside Portkey and nginx, instead of the comparison
  --profile           leave a CPU profile of each process, and say where it spent its time
  --json [FILE]       write all results as JSON, to standard output unless a file is named
  --help              this text`;

/** The options; undefined where help is asked for. */
export function readOptions(args: readonly string[]): Options | undefined {
  const values = parse(args);
  if (values.help) return undefined;
  const modes = (["growth", "depth", "soak", "inference", "latency"] as const).filter((mode) => values[mode]);
  if (modes.length > 1) throw new UsageError("--growth, --depth, --soak, --inference and --latency exclude each other");
  const mode = modes[0] ?? "compare";
  const timing = values.quick ? { rounds: 3, seconds: 0.5 } : { rounds: 5, seconds: secondsByMode[mode] ?? 5 };
  const seconds = positive("--seconds", values.seconds) ?? timing.seconds;
  const concurrency = positive("--concurrency", values.concurrency, Math.ceil);
  return {
    mode,
    workloads: mode === "inference" ? [] : chosen(values.only, mode === "latency" ? latencyWorkloads : workloads),
    gateways: mode === "inference" ? chosenGateways(values.only) : [],
    timing: {
      rounds: positive("--rounds", values.rounds, Math.ceil) ?? timing.rounds,
      seconds,
      warmUpSeconds: Math.max(0.4, seconds / 2),
      concurrency: concurrency ?? 64,
    },
    concurrencies: concurrency === undefined ? concurrencies : [concurrency],
    profile: values.profile,
    json: values.json,
  };
}

function parse(args: readonly string[]) {
  const toggle = { type: "boolean", default: false } as const;
  const text = { type: "string" } as const;
  try {
    return parseArgs({
      // The parser knows no flag whose value may be left out.
      args: args.map((arg, index) => (arg === "--json" && isFlag(args[index + 1]) ? "--json=-" : arg)),
      options: {
        quick: toggle,
        growth: toggle,
        depth: toggle,
        soak: toggle,
        inference: toggle,
        latency: toggle,
        profile: toggle,
        only: text,
        rounds: text,
        seconds: text,
        concurrency: text,
        json: text,
        help: { ...toggle, short: "h" },
      },
    }).values;
  } catch (error) {
    // The sentences after the first explain how to write what is not taken here.
    throw new UsageError((error as Error).message.split(/\.\s/)[0]);
  }
}

function isFlag(arg: string | undefined): boolean {
  return arg === undefined || (arg.startsWith("-") && arg !== "-");
}

function positive(flag: string, value: string | undefined, rounded = (number: number) => number): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (number > 0 && Number.isFinite(number)) return rounded(number);
  throw new UsageError(`${flag} must be a number above 0, not "${value}"`);
}

function chosen(only: string | undefined, usual: readonly Workload[]): readonly Workload[] {
  if (only === undefined) return usual;
  return only.split(",").map((name) => {
    const workload = workloads.find((each) => each.name === name);
    if (!workload) throw new UsageError(`There is no workload "${name}"`);
    return workload;
  });
}

/** Setpoint is always one of them. */
function chosenGateways(only: string | undefined): readonly GatewayName[] {
  if (only === undefined) return gatewayNames;
  const names = only.split(",");
  const unknown = names.find((name) => !gatewayNames.includes(name as GatewayName));
  if (unknown !== undefined) throw new UsageError(`There is no gateway "${unknown}"`);
  return gatewayNames.filter((name) => name === "setpoint" || names.includes(name));
}
