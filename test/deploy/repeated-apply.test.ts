import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { visit } from "../support/kustomize.ts";
import { objectsOf, productionWith, type Rendering, renderings, type Workload } from "../support/manifests.ts";

const others = ["cluster-upstreams", "internal-callers", "traces"];

/**
 * What is applied again as it is must be "unchanged": else nobody sees what a change would change. `kubectl apply` sends
 * some fields whole or not at all, and compares them with what the API server has made of them. So these say themselves
 * what it would add.
 */
describe.each([...renderings, ...others.map(productionWith)])("$title", (rendering: Rendering) => {
  it("sets the protocol of every network policy port", () => {
    for (const { metadata, spec } of objectsOf<{ spec: object }>(rendering, "NetworkPolicy")) {
      visit(spec, (place) => {
        if ("port" in place) expect(place, metadata.name).toHaveProperty("protocol");
      });
    }
  });

  it("sets group and kind of everything that a route refers to", () => {
    for (const { spec } of objectsOf<{ spec: object }>(rendering, "HTTPRoute")) {
      visit(spec, ({ parentRefs, backendRefs }) => {
        for (const reference of (parentRefs ?? []) as object[]) {
          expect(reference).toMatchObject({ group: "gateway.networking.k8s.io", kind: "Gateway" });
        }
        for (const reference of (backendRefs ?? []) as object[]) {
          expect(reference).toMatchObject({ group: "", kind: "Service", weight: 1 });
        }
      });
    }
  });

  it("sets the type of every rollout strategy", () => {
    for (const { metadata, spec } of objectsOf<Workload>(rendering, "Deployment")) {
      expect(spec.strategy, metadata.name).toHaveProperty("type");
    }
  });

  it("has no volumeClaimTemplates, which the API server would add a status to", () => {
    for (const { spec } of objectsOf<{ spec: object }>(rendering, "StatefulSet")) {
      expect(spec).not.toHaveProperty("volumeClaimTemplates");
    }
  });
});

it("documents kubectl replace, not apply, for Secrets created by command", () => {
  const operations = readFileSync("docs/operations.md", "utf8");
  const made = [...operations.matchAll(/create secret [^`\n]+ --dry-run=client -o yaml \| kubectl (\w+)/g)];
  expect(made.map(([, verb]) => verb)).toEqual(["replace", "replace"]);
});
