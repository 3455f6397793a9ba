import { describe, expect, it } from "vitest";
import { createDemo } from "./demo.ts";
import { StartError } from "./start-error.ts";

/** An organization service that answers like the real one and records the commands. */
function fakeService({ taken = false, members = [] as string[], broken = false }) {
  const calls: string[] = [];
  const run = async ([command = "", ...flags]: readonly string[]): Promise<string> => {
    const flag = (name: string): string => flags[flags.indexOf(name) + 1] ?? "";
    calls.push(command === "add-member" ? `${command} ${flag("--email")}` : command);
    if (broken) throw new StartError(`${command}: the database cannot be used`);
    if (command === "bootstrap" && taken) throw new StartError("The organization name is taken");
    if (members.includes(flag("--email"))) throw new StartError("is a member already");
    if (command === "bootstrap") return JSON.stringify({ api_key: "sk-api", management_key: "sk-management" });
    return JSON.stringify({ key: `sk-new-${flag("--kind")}` });
  };
  return { calls, run };
}

describe("createDemo", () => {
  it("creates an organization with an admin and two more members", async () => {
    const { calls, run } = fakeService({});
    expect(await createDemo(run)).toEqual({ api_key: "sk-api", management_key: "sk-management", isNew: true });
    expect(calls).toEqual(["bootstrap", "add-member grace@example.com", "add-member alan@example.com"]);
  });

  it("creates new keys if the organization exists and its keys are lost", async () => {
    const { run } = fakeService({ taken: true, members: ["grace@example.com", "alan@example.com"] });
    expect(await createDemo(run)).toEqual({ api_key: "sk-new-api", management_key: "sk-new-management", isNew: false });
  });

  it("adds members missing from an interrupted start", async () => {
    const { calls, run } = fakeService({ taken: true, members: ["grace@example.com"] });
    await createDemo(run);
    expect(calls).toContain("add-member alan@example.com");
  });

  it("reports the first reason if nothing can be created", async () => {
    const { run } = fakeService({ broken: true });
    await expect(createDemo(run)).rejects.toThrow("bootstrap: the database cannot be used");
  });

  it("reports that a member could not be added to a new organization", async () => {
    const { run } = fakeService({ members: ["alan@example.com"] });
    await expect(createDemo(run)).rejects.toThrow("is a member already");
  });
});
