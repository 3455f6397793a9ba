import { describe, expect, it } from "vitest";
import { CommandError } from "../../platform/process/command-error.ts";
import { id, oneOf, optional, readFlags, required, someOf, toggle } from "../../platform/process/flags.ts";
import { email, futureTime, name } from "./flag-rules.ts";

const flags = {
  name: required(name, "a name"),
  email: optional(email, "an address"),
  id: optional(id, "an id"),
  kind: optional(oneOf(["a", "b"]), "a kind"),
  some: optional(someOf(["x", "y"]), "some"),
  until: optional(futureTime, "a time"),
  json: toggle("as JSON"),
};

function read(...parameters: string[]) {
  return readFlags("try", ["--name", "Ada", ...parameters], flags);
}

function faultOf(...parameters: string[]): string {
  try {
    readFlags("try", parameters, flags);
  } catch (error) {
    expect(error).toBeInstanceOf(CommandError);
    return (error as CommandError).message;
  }
  throw new Error("nothing was refused");
}

describe("flags", () => {
  it("omits what is not given", () => {
    expect(read()).toEqual({ name: "Ada", json: false });
  });

  it.each([
    ["trims", ["--email", " a@b "], { email: "a@b" }],
    ["takes --flag=value", ["--email=a@b"], { email: "a@b" }],
    [
      "lower-cases ids",
      ["--id", "0190A000-0000-7000-8000-00000000000A"],
      { id: "0190a000-0000-7000-8000-00000000000a" },
    ],
    ["accepts a list in any order", ["--some", "y, x,y"], { some: ["x", "y"] }],
    [
      "accepts a time with an offset",
      ["--until", "2999-01-01T00:00+01:00"],
      { until: new Date("2998-12-31T23:00:00Z") },
    ],
    ["accepts a switch", ["--json"], { json: true }],
  ])("%s", (_name, parameters, expected) => {
    expect(read(...parameters)).toMatchObject(expected);
  });

  it.each([
    [["--name", " "], "--name must be 1 to 255 characters"],
    [["--email", "ada"], "--email must be an e-mail address"],
    [["--id", "1"], "--id must be a UUID"],
    [["--kind", "c"], "--kind must be one of a, b"],
    [["--some", "x,z"], "--some must be one or more of x, y"],
    [["--some", ""], "--some must be one or more of x, y"],
    [["--until", "2999-01-01T00:00:00"], "--until must be a future time"],
    [["--until", "2020-01-01T00:00:00Z"], "--until must be a future time"],
    [["--until", "2999-13-01T00:00:00Z"], "--until must be a future time"],
    [["--until", "2999-02-30T00:00:00Z"], "--until must be a future time"],
    [["--nam", "x"], "Unknown option '--nam'; did you mean --name?\n"],
    [["--colour", "x"], "Unknown option '--colour'\n"],
    [["--name"], "Option '--name <value>' argument missing"],
    [["--json=yes"], "Option '--json' does not take an argument"],
    [["x"], "Unexpected argument 'x'"],
  ])("rejects %j", (parameters, message) => {
    expect(faultOf(...parameters)).toContain(message);
  });

  it("reports all errors, and shows the usage of the command", () => {
    expect(faultOf("--email", "ada", "--kind", "c")).toBe(
      [
        "--name is required: 1 to 255 characters, without control characters such as tabs and line breaks",
        "--email must be an e-mail address of at most 320 characters",
        "--kind must be one of a, b",
        "Usage: try --name NAME [--email EMAIL] [--id ID] [--kind a|b] [--some x,y] [--until TIME] [--json]",
      ].join("\n"),
    );
  });
});
