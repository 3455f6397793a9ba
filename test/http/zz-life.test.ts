import { expect, it } from "vitest";
import { startStack } from "../support/stack.ts";

it("fat", async () => {
  const stack = await startStack();
  const body = JSON.stringify({ messages: [], tools: [{ type: "function", function: { name: "x", description: "y".repeat(1_000_000) } }] });
  for (let i = 0; i < 100; i++) { const a = await stack.create("fat", body); if (a.status !== 200) { console.log(a.status, a.text.slice(0, 200)); break; } }
  const rss = () => (process.memoryUsage().rss / 1e6).toFixed(0);
  for (const limit of [10, 50, 100]) {
    const t = performance.now();
    const r = await fetch(`${stack.baseUrl}/api/v1/presets/fat/versions?limit=${limit}`, { headers: { authorization: `Bearer ${stack.apiKey}` } });
    const b = await r.arrayBuffer();
    console.log(limit, r.status, b.byteLength, (performance.now() - t).toFixed(0), "ms rss", rss());
  }
  const t = performance.now();
  const all = await Promise.all(Array.from({ length: 4 }, async () => { const r = await fetch(`${stack.baseUrl}/api/v1/presets/fat/versions?limit=100`, { headers: { authorization: `Bearer ${stack.apiKey}` } }); return [r.status, (await r.arrayBuffer()).byteLength]; }));
  console.log(all, (performance.now() - t).toFixed(0), rss());
  await stack.close();
  expect(1).toBe(1);
}, 60000);
