import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { afterAll, expect, it } from "vitest";
import { renderKustomization } from "../support/kustomize.ts";

const folder = mkdtempSync(join(tmpdir(), "setpoint-annotations-"));
afterAll(() => rmSync(folder, { recursive: true }));

it("adds the scrape annotations without removing a pod's own annotations", () => {
  const base = relative(folder, resolve("deploy/kubernetes/base"));
  const processes = ["gateway", "preset", "organization"];
  const patches = processes.map((name) => ({
    target: { kind: "Deployment", name },
    patch: JSON.stringify([
      { op: "add", path: "/spec/template/metadata/annotations", value: { "example.com/team": "a" } },
    ]),
  }));
  writeFileSync(join(folder, "kustomization.yaml"), JSON.stringify({ resources: ["annotated"] }));
  mkdirSync(join(folder, "annotated"));
  writeFileSync(
    join(folder, "annotated/kustomization.yaml"),
    JSON.stringify({ resources: [join("..", base)], patches }),
  );
  const objects = renderKustomization(folder, [resolve("deploy/kubernetes/components/metrics-scraping")]);
  const annotations = objects
    .filter(({ kind }) => kind === "Deployment")
    .map(({ spec }) => (spec as { template: { metadata: object } }).template.metadata);
  expect(annotations).toHaveLength(processes.length);
  for (const metadata of annotations) {
    expect(metadata).toMatchObject({
      annotations: { "example.com/team": "a", "prometheus.io/scrape": "true", "prometheus.io/path": "/metrics" },
    });
  }
});
