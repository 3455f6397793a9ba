import { afterAll, beforeAll, expect, it } from "vitest";
import { type Stack, startStack } from "../support/stack.ts";
import type { Tenant } from "../support/tenants.ts";

let stack: Stack;
let tenants: Tenant[];

beforeAll(async () => {
  stack = await startStack();
  tenants = await Promise.all(Array.from({ length: 12 }, () => stack.tenants.createOrganization()));
  // A key that was used before is sent to the services in one call with the others.
  await Promise.all(tenants.map(({ apiKey }) => stack.request("GET", "/presets", { key: apiKey })));
});

afterAll(() => stack.close());

it("shows each of many simultaneous callers only their own presets", async () => {
  const rounds = Array.from({ length: 10 }, (_, seed) => seed + 1);
  for (const seed of rounds) {
    const created = await Promise.all(
      tenants.map(({ apiKey, workspaceId }) =>
        stack.create("shared-name", { messages: [], seed, user: workspaceId, stop: workspaceId }, { key: apiKey }),
      ),
    );
    const read = await Promise.all(
      tenants.map(({ apiKey }) => stack.request("GET", "/presets/shared-name", { key: apiKey })),
    );
    const seen = ({ json }: (typeof created)[number]) => ({
      workspace: json.data.workspace_id,
      version: json.data.designated_version.version,
      config: json.data.designated_version.config,
    });
    const expected = tenants.map(({ workspaceId }) => ({
      workspace: workspaceId,
      version: seed,
      config: { seed, stop: workspaceId },
    }));
    expect(created.map(seen)).toEqual(expected);
    expect((read as typeof created).map(seen)).toEqual(expected);
  }
});

it("rejects one of many simultaneous callers without affecting the others", async () => {
  const [archiver] = tenants as [Tenant];
  const { status } = await stack.request("PATCH", "/presets/shared-name", {
    key: archiver.apiKey,
    body: { status: "archived" },
  });
  expect(status).toBe(200);
  const answers = await Promise.all([
    ...tenants.map(({ apiKey }) => stack.create("shared-name", undefined, { key: apiKey })),
    ...tenants.map(({ apiKey }) => stack.request("GET", "/presets/none", { key: apiKey })),
    ...tenants.map(({ apiKey }) => stack.request("GET", "/presets/shared-name", { key: apiKey })),
  ]);
  expect(answers.map((answer) => answer.status)).toEqual([
    ...tenants.map((tenant) => (tenant === archiver ? 409 : 200)),
    ...tenants.map(() => 404),
    ...tenants.map(() => 200),
  ]);
  const metrics = await (await fetch(`http://127.0.0.1:${stack.preset.config.httpPort}/metrics`)).text();
  expect(metrics).toMatch(/operation="[^"]*BatchCreateVersions"/);
  expect(metrics).toMatch(/setpoint_part_failures_total\{outcome="FAILED_PRECONDITION"[^}]*\} 1\b/);
});
