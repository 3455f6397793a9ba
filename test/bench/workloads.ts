import type { Task } from "./calls.ts";
import type { Fixture } from "./fixture.ts";

/** One line of the table: what is asked for, and what it should cost. */
export interface Workload {
  readonly name: string;
  readonly title: string;
  /** The least rate, as a multiple of the yardstick's. */
  readonly ratioMin?: number;
  /** The most processor time of all processes and the database together. */
  readonly cpuUsMax?: number;
  /** The most processor time, as a multiple of what another workload takes, whose rounds alternate with these. */
  readonly cpuTimesMax?: { readonly of: string; readonly times: number };
  /** The longest p50 at one connection, as a multiple of the yardstick's. */
  readonly p50RatioMax?: number;
  /** Whether it needs a new key for every request. */
  readonly needsNewKeys?: boolean;
  /** Whether it needs the many small tenants, which take a while to fill. */
  readonly needsCrowd?: boolean;
  readonly task: (fixture: Fixture) => Task;
}

export const workloads: readonly Workload[] = [
  {
    name: "create-new",
    title: "create, new slugs",
    ratioMin: 1,
    cpuUsMax: 560,
    p50RatioMax: 1.9,
    task: ({ writer }) => ({ kind: "create-new", tenant: writer, body: "ordinary" }),
  },
  {
    name: "create-hot-50",
    title: "create, 50 hot slugs",
    ratioMin: 1,
    cpuUsMax: 560,
    p50RatioMax: 1.9,
    task: ({ writer }) => ({ kind: "create-hot", tenant: writer, slugs: 50 }),
  },
  {
    name: "create-hot-1",
    title: "create, one hot slug",
    ratioMin: 2,
    p50RatioMax: 1.9,
    task: ({ writer }) => ({ kind: "create-hot", tenant: writer, slugs: 1 }),
  },
  {
    name: "create-large",
    title: "create, 6 KB config",
    task: ({ writer }) => ({ kind: "create-new", tenant: writer, body: "large" }),
  },
  {
    name: "get",
    title: "get preset",
    ratioMin: 0.5,
    cpuUsMax: 330,
    p50RatioMax: 2.3,
    task: ({ reader, readerPresets }) => ({ kind: "get", tenant: reader, count: readerPresets, of: readerPresets }),
  },
  {
    name: "list-presets",
    title: "list 50 of 1,000 presets",
    p50RatioMax: 2.3,
    task: ({ reader, readerPresets }) => ({ kind: "list-presets", tenant: reader, offset: 0, total: readerPresets }),
  },
  {
    name: "members-10000",
    title: "list 50 of 10,000 members",
    ratioMin: 0.5,
    task: ({ writer, writerMembers }) => ({ kind: "list-members", tenant: writer, offset: 0, total: writerMembers }),
  },
  {
    name: "members-200",
    title: "list 50 of 200 members",
    cpuUsMax: 430,
    p50RatioMax: 2.3,
    task: ({ reader, readerMembers }) => ({ kind: "list-members", tenant: reader, offset: 0, total: readerMembers }),
  },
  {
    name: "mixed",
    title: "90/10 mix, 1,000 tenants",
    needsCrowd: true,
    task: ({ crowd, crowdPresets }) => ({ kind: "mixed", tenants: crowd, presets: crowdPresets }),
  },
  // The last one: the gateway goes on holding what it got for the keys, and the organization service notes their use.
  {
    name: "sparse-keys",
    title: "get preset, each with a new key",
    cpuTimesMax: { of: "get", times: 2.5 },
    needsNewKeys: true,
    task: ({ reader, readerPresets }) => ({ kind: "get-by-new-keys", tenant: reader, presets: readerPresets }),
  },
];
