import { median } from "../median.ts";
import type { Moment, What } from "./moments.ts";

/** One step of a request's way, and the median time of it. */
export interface Step {
  readonly title: string;
  readonly us: number;
}

/** What is done from one moment to the next. */
const titles: Readonly<Record<string, string>> = {
  "request received > call sent": "gateway, until it calls",
  "call sent > call received": "on the way to the service",
  "call received > statement sent": "service, until its first statement",
  "statement answered > statement sent": "service, until its next statement",
  "statement answered > call answered": "service, until it answers",
  "call answered > answer received": "on the way back",
  "answer received > request answered": "gateway, until it has answered",
};

/** The way that most requests took; those that something else came between are left out. */
export function medianWay(moments: readonly Moment[]): Step[] {
  const byWay = Map.groupBy(waysIn(moments), (steps) => steps.map(({ title }) => title).join());
  const [most = []] = [...byWay.values()].sort((a, b) => b.length - a.length);
  return (most[0] ?? []).map(({ title }, index) => ({
    title,
    us: median(most.map((steps) => steps[index]?.us ?? Number.NaN)),
  }));
}

/** The steps of each request. Requests do not overlap: one is sent when the one before it was answered. */
function waysIn(moments: readonly Moment[]): Step[][] {
  const ways: Step[][] = [];
  let way: Moment[] = [];
  for (const moment of moments.toSorted((a, b) => a.atUs - b.atUs)) {
    if (moment.what === "request received") way = [];
    way.push(moment);
    if (moment.what === "request answered" && way[0]?.what === "request received") ways.push(stepsOf(way));
  }
  return ways;
}

function stepsOf(way: readonly Moment[]): Step[] {
  return way.slice(1).map((moment, index) => {
    const before = way[index] as Moment;
    return { title: titleOf(before, moment.what), us: moment.atUs - before.atUs };
  });
}

function titleOf(before: Moment, what: What): string {
  if (before.what === "statement sent" && what === "statement answered") return `  ${before.detail}`;
  return titles[`${before.what} > ${what}`] ?? `${before.what}, until: ${what}`;
}
