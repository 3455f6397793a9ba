import { describe, expect, it } from "vitest";
import { Ledger } from "./ledger.ts";

describe("Ledger", () => {
  it("counts acknowledged creations by preset", () => {
    const ledger = new Ledger();
    ledger.addNew("a", 1);
    ledger.addShared("w", "b", 2);
    ledger.addShared("w", "b", 1);
    ledger.addShared("v", "b", 1);
    expect(ledger.summarize()).toEqual({
      newPresets: 1,
      shared: [
        { workspaceId: "w", slug: "b", versions: 2 },
        { workspaceId: "v", slug: "b", versions: 1 },
      ],
      faults: [],
    });
  });

  it("reports a version assigned twice, and a new preset that is not new", () => {
    const ledger = new Ledger();
    ledger.addNew("a", 2);
    ledger.addShared("w", "b", 1);
    ledger.addShared("w", "b", 1);
    expect(ledger.summarize().faults).toEqual([
      "the new preset a was answered with version 2",
      "version 1 of b was answered twice",
    ]);
  });
});
