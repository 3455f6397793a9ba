import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { snippets } from "../../gateway/console/app/screens/preset/snippet-texts.ts";
import { type EchoStack, startEchoStack } from "../support/echo-stack.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);

let stack: EchoStack;

beforeAll(async () => {
  stack = await startEchoStack();
  await stack.create("greeter", { model: "echo/small", messages: [{ role: "system", content: "Greet people." }] });
});

afterAll(() => stack?.close());

describe.each(snippets)("the console's snippet for %s", (label, make) => {
  it("calls the preset as it stands, with a key from the environment", async () => {
    const text = make("@preset/greeter@1", stack.baseUrl);
    expect(text).toContain("SETPOINT_API_KEY");
    const options = { cwd: root, env: { PATH: process.env.PATH, SETPOINT_API_KEY: stack.apiKey } };
    const { stdout } =
      label === "curl"
        ? await run("sh", ["-c", text], options)
        : await run(
            process.execPath,
            ["--input-type=module", "--eval", `${text}\nconsole.log(JSON.stringify(answer));`],
            options,
          );
    expect(stdout).toContain("system: Greet people.\\nuser: Hello");
  });
});
