import type { Measurement } from "../measure.ts";
import { median } from "../median.ts";
import { numberText, textTable } from "../text-table.ts";
import { type HeldStreams, heldStreams } from "./held-streams.ts";

/** What went through one gateway in one scenario. */
export interface Figures extends Measurement {
  readonly scenario: "whole" | "50 chunks" | "first byte";
  readonly gateway: "none" | "nginx" | "portkey" | "setpoint" | "setpoint, preset";
  readonly concurrency: number;
}

const chunksOfStream = 50;
const ours = "setpoint, preset";

/** Of the gateway's own process: the median of the rounds. */
function cpuUs({ firstCpuUs }: Figures): number {
  return median(firstCpuUs);
}

export function figuresTable(figures: readonly Figures[]): string {
  const header = [
    "answer",
    "connections",
    "through",
    "req/s",
    "p50 ms",
    "p99 ms",
    "first byte ms",
    "errors",
    "CPU µs",
    "per chunk",
    "pieces",
  ];
  const rows = figures.map((each) => [
    each.scenario,
    String(each.concurrency),
    each.gateway,
    numberText(each.rate),
    numberText(each.p50Ms, 2),
    numberText(each.p99Ms, 2),
    numberText(each.firstByteP50Ms, 2),
    String(each.errors),
    numberText(cpuUs(each)),
    each.scenario === "50 chunks" ? numberText(cpuUs(each) / chunksOfStream, 1) : "",
    numberText(each.reads, 1),
  ]);
  return textTable(header, rows);
}

export function heldTable(held: readonly HeldStreams[]): string {
  const header = [`${numberText(heldStreams)} open streams`, "MiB before", "open", "after", "broken"];
  const list = (values: readonly number[]): string => values.map((value) => numberText(value)).join(", ");
  const rows = held.map(({ gateway, beforeMib, openMib, afterMib, broken }) => [
    gateway,
    numberText(beforeMib),
    list(openMib),
    list(afterMib),
    String(broken),
  ]);
  return textTable(header, rows);
}

/** What it should cost, and whether it does. */
interface Aim {
  readonly title: string;
  readonly value: number;
  readonly max: number;
  readonly digits: number;
}

export function aimsTable(figures: readonly Figures[], held: readonly HeldStreams[]): string {
  const rows = aimsOf(figures, held).map(({ title, value, max, digits }) => {
    const verdict = Number.isFinite(value) ? (value <= max ? "met" : "MISSED") : "not measured";
    return [title, numberText(value, digits), numberText(max, digits), verdict];
  });
  return textTable(["setpoint with a preset, 64 connections", "is", "at most", ""], rows);
}

function aimsOf(figures: readonly Figures[], held: readonly HeldStreams[]): Aim[] {
  const find = (scenario: Figures["scenario"], gateway: Figures["gateway"], concurrency = 64): Figures | undefined =>
    figures.find((each) => each.scenario === scenario && each.gateway === gateway && each.concurrency === concurrency);
  const cpuOf = (scenario: Figures["scenario"]): number => {
    const found = find(scenario, ours);
    return found ? cpuUs(found) : Number.NaN;
  };
  const toPortkey = (scenario: Figures["scenario"]): number =>
    paired(find(scenario, ours), find(scenario, "portkey"), (one, other) => one / other);
  const firstByteMs = (gateway: Figures["gateway"]): number =>
    find("first byte", gateway, 1)?.firstByteP50Ms ?? Number.NaN;
  const resolveUs = paired(find("whole", ours), find("whole", "setpoint"), (one, other) => one - other);
  const { openMib = [] } = held.find(({ gateway }) => gateway === ours) ?? {};
  const openMax = openMib.length === 0 ? Number.NaN : Math.max(...openMib);
  return [
    { title: "whole answer: CPU µs", value: cpuOf("whole"), max: 300, digits: 0 },
    { title: "whole answer: CPU, as a share of Portkey's", value: toPortkey("whole"), max: 0.25, digits: 2 },
    { title: "streamed: CPU µs a chunk, all in", value: cpuOf("50 chunks") / chunksOfStream, max: 25, digits: 1 },
    { title: "streamed: CPU, as a share of Portkey's", value: toPortkey("50 chunks"), max: 0.25, digits: 2 },
    {
      title: "added time to the first byte, 1 connection, p50 ms",
      value: firstByteMs(ours) - firstByteMs("none"),
      max: 1,
      digits: 2,
    },
    { title: "a preset: CPU µs beside the same request without one", value: resolveUs, max: 30, digits: 0 },
    { title: `${numberText(heldStreams)} open streams: MiB`, value: openMax, max: 300, digits: 0 },
    {
      title: "and the last time, as a multiple of half way",
      value: (openMib.at(-1) ?? Number.NaN) / (openMib[openMib.length >> 1] ?? Number.NaN),
      max: 1.1,
      digits: 2,
    },
  ];
}

/** The median over rounds that ran beside each other. */
function paired(
  one: Figures | undefined,
  other: Figures | undefined,
  compare: (one: number, other: number) => number,
): number {
  if (!one || !other) return Number.NaN;
  return median(one.firstCpuUs.map((us, round) => compare(us, other.firstCpuUs[round] ?? Number.NaN)));
}
