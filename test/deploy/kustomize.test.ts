import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { renderKustomization } from "../support/kustomize.ts";

const folder = mkdtempSync(join(tmpdir(), "setpoint-kustomize-"));
afterAll(() => rmSync(folder, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

it("renders the same as kustomize 4.5.4", () => {
  write(
    "base/kustomization.yaml",
    "{namespace: a, resources: [all.yaml], labels: [{pairs: {part-of: setpoint}}], configMapGenerator: [{name: config, envs: [config.env]}]}",
  );
  write("base/config.env", "# A comment.\nA=1\nB=dns:///x:1\n");
  write(
    "base/all.yaml",
    `{apiVersion: v1, kind: Namespace, metadata: {name: a}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec:
      containers: [{name: c, image: setpoint, envFrom: [{configMapRef: {name: config}}]}]
      volumes: [{name: key, secret: {secretName: s}}]
`,
  );
  write(
    "overlay/kustomization.yaml",
    "{namespace: b, resources: [../base], labels: [{pairs: {instance: b}, fields: [{path: spec/template/metadata/labels}]}], images: [{name: setpoint, newTag: dev}], configMapGenerator: [{name: config, behavior: merge, literals: [A=2]}], patches: [{path: patch.yaml}]}",
  );
  write(
    "overlay/patch.yaml",
    `apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  template:
    spec:
      containers: [{name: new, image: other}]
      volumes: [{name: key, secret: null, emptyDir: {}}]
`,
  );

  const labels = { "part-of": "setpoint", instance: "b" };
  expect(renderKustomization(join(folder, "overlay"))).toEqual([
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "b", labels } },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "d", namespace: "b", labels },
      spec: {
        selector: { matchLabels: { app: "d" } },
        template: {
          metadata: { labels: { app: "d", instance: "b" } },
          spec: {
            containers: [
              { name: "new", image: "other" },
              { name: "c", image: "setpoint:dev", envFrom: [{ configMapRef: { name: "config-kctdgh4hbf" } }] },
            ],
            volumes: [{ name: "key", emptyDir: {} }],
          },
        },
      },
    },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "config-kctdgh4hbf", namespace: "b", labels },
      data: { A: "2", B: "dns:///x:1" },
    },
  ]);
});

it("rejects fields it does not support instead of ignoring them", () => {
  write("more/kustomization.yaml", "{resources: [], namePrefix: x-}");
  expect(() => renderKustomization(join(folder, "more"))).toThrow("namePrefix is not understood here");
});
