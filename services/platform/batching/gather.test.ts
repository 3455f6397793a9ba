import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Gather } from "./gather.ts";

/** A source that answers each batch when it is told to. */
function slowSource(options: { batchMax?: number; batchesMax?: number } = {}) {
  const batches: { readonly keys: readonly string[]; answer(): void; fail(error: Error): void }[] = [];
  const gather = new Gather<string, string>({
    keyOf: (key) => key,
    find: (keys) =>
      new Promise((resolve, reject) => {
        const answer = () => resolve(new Map(keys.filter((key) => key !== "none").map((key) => [key, `${key}!`])));
        batches.push({ keys, answer, fail: reject });
      }),
    batchMax: options.batchMax ?? 64,
    batchesMax: options.batchesMax ?? 1,
  });
  const begun = async (count: number) => {
    await expect.poll(() => batches.length).toBe(count);
    return batches[count - 1] as (typeof batches)[number];
  };
  return { gather, batches, begun };
}

describe("Gather", () => {
  it("sends what is asked in one turn as one batch, each key once", async () => {
    const { gather, batches, begun } = slowSource({ batchesMax: 2 });
    const answers = ["a", "b", "a", "none"].map((key) => gather.find(key));
    const batch = await begun(1);
    expect(batch.keys).toEqual(["a", "b", "none"]);
    batch.answer();
    expect(await Promise.all(answers)).toEqual(["a!", "b!", "a!", undefined]);
    expect(batches).toHaveLength(1);
  });

  it("never lets a look-up join a batch that has begun", async () => {
    const { gather, begun } = slowSource();
    const early = gather.find("a");
    const first = await begun(1);
    const late = gather.find("a");
    first.answer();
    expect(await early).toBe("a!");
    (await begun(2)).answer();
    expect(await late).toBe("a!");
  });

  it("gathers what arrives while a batch is under way, and never makes a batch too large", async () => {
    const { gather, begun } = slowSource({ batchMax: 2 });
    const answers = [gather.find("a")];
    const first = await begun(1);
    answers.push(...["b", "c", "d"].map((key) => gather.find(key)));
    first.answer();
    const second = await begun(2);
    expect(second.keys).toEqual(["b", "c"]);
    second.answer();
    const third = await begun(3);
    expect(third.keys).toEqual(["d"]);
    third.answer();
    expect(await Promise.all(answers)).toEqual(["a!", "b!", "c!", "d!"]);
  });

  it("has no more batches under way than it may", async () => {
    const { gather, batches, begun } = slowSource({ batchMax: 1, batchesMax: 2 });
    const answers = ["a", "b", "c"].map((key) => gather.find(key));
    await begun(2);
    await sleep(20);
    expect(batches).toHaveLength(2);
    batches[1]?.answer();
    (await begun(3)).answer();
    batches[0]?.answer();
    expect(await Promise.all(answers)).toEqual(["a!", "b!", "c!"]);
  });

  it("fails the askers of a failed batch alone, and goes on", async () => {
    const { gather, begun } = slowSource();
    const failing = [gather.find("a"), gather.find("a")];
    const first = await begun(1);
    const good = gather.find("b");
    first.fail(new Error("lost"));
    for (const result of await Promise.allSettled(failing)) {
      expect(result).toMatchObject({ status: "rejected", reason: { message: "lost" } });
    }
    (await begun(2)).answer();
    expect(await good).toBe("b!");
  });

  it("starts again after it has been idle", async () => {
    const { gather, begun } = slowSource();
    for (const count of [1, 2]) {
      const answer = gather.find("a");
      (await begun(count)).answer();
      expect(await answer).toBe("a!");
      await sleep(5);
    }
  });
});
