import { existsSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Room, Side } from "../processes.ts";
import { type Moment, momentsFile } from "./moments.ts";
import { medianWay, type Step } from "./steps.ts";

const recorded = ["gateway", "preset", "organization"];
const fileWaitMs = 10_000;

/** Runs `load`, one request at a time, and says which steps they took, and how long each. */
export async function followWay(side: Side, room: Room, load: () => Promise<unknown>): Promise<Step[]> {
  const pids = side.processes.filter(({ name }) => recorded.includes(name)).map(({ pid }) => pid);
  const toggle = (): void => {
    for (const pid of pids) process.kill(pid, "SIGUSR2");
  };
  toggle();
  await load();
  toggle();
  const moments = await Promise.all(recorded.map((name) => readMoments(momentsFile(room.folder, name))));
  return medianWay(moments.flat());
}

async function readMoments(file: string): Promise<Moment[]> {
  for (let waitedMs = 0; !existsSync(file); waitedMs += 10) {
    if (waitedMs > fileWaitMs) throw new Error(`A process did not write ${file}`);
    await delay(10);
  }
  const moments: Moment[] = JSON.parse(readFileSync(file, "utf8"));
  rmSync(file);
  return moments;
}
