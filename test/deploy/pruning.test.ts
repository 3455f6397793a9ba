import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { KubernetesObject } from "../support/kustomize.ts";
import {
  dev,
  galera,
  production,
  productionWith,
  type Rendering,
  renderings,
  vitess,
  type Workload,
} from "../support/manifests.ts";

const operations = readFileSync("docs/operations.md", "utf8");

/** Components that production does not include by default. */
const others = ["cluster-upstreams", "internal-callers", "prometheus-operator", "traces", "priority-class"];

describe.each([
  dev,
  production,
  galera,
  vitess,
  productionWith("../overlays/production/ingress"),
  ...others.map(productionWith),
])("$title", ({ objects }: Rendering) => {
  it("labels every object with part-of, instance and version", () => {
    const image = JSON.stringify(objects).match(/setpoint:([\w.-]+)"/)?.[1];
    const namespace = objects.find(({ kind }) => kind === "Namespace")?.metadata.name;
    for (const { kind, metadata } of objects) {
      expect(metadata.labels, `${kind} ${metadata.name}`).toMatchObject({
        "app.kubernetes.io/part-of": "setpoint",
        "app.kubernetes.io/instance": namespace,
        "app.kubernetes.io/version": image,
      });
    }
  });

  it("gives pods the labels of their workload and selects them by name only", () => {
    for (const { kind, metadata, spec } of objects as readonly (KubernetesObject & Workload)[]) {
      if (!["Deployment", "StatefulSet", "Job"].includes(kind)) continue;
      expect(spec.template.metadata.labels, `${kind} ${metadata.name}`).toEqual(metadata.labels);
      if (kind !== "Job") expect(spec.selector).toEqual({ matchLabels: { "app.kubernetes.io/name": metadata.name } });
    }
  });
});

describe("the documented prune command", () => {
  const command = operations.match(/^kubectl apply -k \S+production --prune(.*\\\n)+.*/m)?.[0] ?? "";
  const kinds = [...command.matchAll(/--prune-allowlist (\S+)/g)].map(([, kind]) => kind);

  it("selects objects by the instance label", () => {
    expect(command).toContain("--selector app.kubernetes.io/instance=setpoint ");
  });

  it("lists every prunable kind that an overlay or component adds", () => {
    // A pod of the previous release may start again while it is replaced, or after a rollback.
    const kept = ["ConfigMap", "Secret", "Namespace", "ServiceAccount", "Service", "Deployment", "StatefulSet", "Job"];
    // Cluster-wide, so that others may use it; and data.
    kept.push("PriorityClass", "PersistentVolumeClaim");
    const used = new Set(
      [...renderings, productionWith("prometheus-operator")]
        .flatMap(({ objects }) => objects)
        .filter(({ kind }) => !kept.includes(kind))
        .map(({ apiVersion, kind }) => `${apiVersion}/${kind}`),
    );
    expect([...kinds].sort()).toEqual([...used].sort());
  });
});
