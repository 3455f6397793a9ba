import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../support/database.ts";
import { type DatabaseProxy, openDatabaseProxy } from "../support/database-proxy.ts";
import { createPresetDatabase } from "../support/preset-database.ts";
import { type Stack, startStack } from "../support/stack.ts";

let database: TestDatabase;
let proxy: DatabaseProxy;
let stack: Stack;

beforeAll(async () => {
  database = await createPresetDatabase();
  proxy = await openDatabaseProxy(database.url);
  stack = await startStack({ preset: { databaseUrl: proxy.url } });
});

afterAll(async () => {
  await stack.close();
  await proxy.close();
  await database.drop();
});

const secret = "You are Aunt Polly's secret assistant.";

describe("a database error", () => {
  it.each([
    [
      "from Vitess",
      `target: setpoint_preset.40-80.primary: vttablet: rpc error: code = Unknown desc = Incorrect string value: '${secret}' for column 'system_prompt' at row 1 (errno 1366) (sqlstate HY000) (CallerID: preset): Sql: "insert into preset_versions(system_prompt) values (:vtg1 /* VARCHAR */)", BindVars: {vtg1: "type:VARCHAR value:\\"${secret}\\""}`,
    ],
    ["from MySQL", `Incorrect string value: '${secret}' for column 'system_prompt' at row 1`],
  ])("is logged without the prompt in its message, %s", async (_name, message) => {
    // For either protocol.
    for (const phase of ["execute", "query"] as const) proxy.fail(phase, { errno: 1366, message });
    const logged = stack.log().length;
    const answer = await stack.create("polly", { messages: [{ role: "system", content: secret }] });
    await proxy.heal();
    expect(answer.status).toBe(500);
    const log = stack.log().slice(logged);
    expect(log).toContain("Incorrect string value: '…' for column 'system_prompt' at row 1");
    expect(log + JSON.stringify(answer)).not.toMatch(/Polly|secret assistant/);
  });
});
