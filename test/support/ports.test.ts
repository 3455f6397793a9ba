import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import { nextPort } from "./ports.ts";

/** The ports that another process gives to its tests. It keeps them while it runs. */
async function portsOfOther(count: number): Promise<number[]> {
  const script = `import { nextPort } from "./ports.ts";
    const ports = [];
    while (ports.length < ${count}) ports.push(await nextPort());
    console.log(JSON.stringify(ports));
    process.stdin.resume();`;
  const other = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: import.meta.dirname,
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void other.kill());
  const [printed] = await once(other.stdout, "data");
  return JSON.parse(printed);
}

it("gives no port to two processes at once", async () => {
  const given = (await Promise.all([1, 2, 3].map(() => portsOfOther(5)))).flat();
  expect(new Set(given).size).toBe(15);
});

it("gives no port reserved by a start", async () => {
  const port = (await nextPort()) + 1;
  const reserved = createSocket("udp4").bind(port, "127.0.0.1");
  onTestFinished(() => void reserved.close());
  // If a start beside these tests has reserved it already, that is as good.
  await once(reserved, "listening").catch(() => {});
  expect(await nextPort()).not.toBe(port);
});
