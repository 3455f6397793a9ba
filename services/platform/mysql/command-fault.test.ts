import { describe, expect, it } from "vitest";
import { CommandError } from "../process/command-error.ts";
import { throwDatabaseFault } from "./command-fault.ts";

describe("a database error in a command", () => {
  it.each([
    [{ errno: 3159 }, "The database accepts only connections with TLS: add ssl-mode=VERIFY_IDENTITY to its URL"],
    [{ errno: 1142 }, "The database refuses this to its user: no.\nGrant the right"],
    [{ errno: 1044 }, "The database refuses this to its user: no.\nGrant the right"],
    [{ errno: 1045 }, "The database cannot be used: no.\nCheck that it runs, and the database URL"],
    [{ code: "HANDSHAKE_SSL_ERROR", fatal: true }, "The database cannot be used: no.\nCheck that it runs"],
    [{ errno: 1205 }, "Something else has rows or a table of the database locked"],
    [{ errno: 1213 }, "Others kept changing the same rows of the database. Run the command again."],
  ])("gets a clear message: %j", (parts, sentence) => {
    const say = () => throwDatabaseFault(new Error("it failed", { cause: Object.assign(new Error("no"), parts) }));
    expect(say).toThrow(CommandError);
    expect(say).toThrow(sentence);
  });

  it("is rethrown unchanged if it is a fault in our code", () => {
    const error = Object.assign(new Error("You have an error in your SQL syntax"), { errno: 1064 });
    expect(() => throwDatabaseFault(error)).toThrow(error);
  });
});
