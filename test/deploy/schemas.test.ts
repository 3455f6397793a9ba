import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { lookForSchemaFaults } from "../support/kubernetes-schema.ts";
import { type KubernetesObject, renderKustomization } from "../support/kustomize.ts";
import {
  base,
  containersOf,
  dev,
  objectsOf,
  type Pods,
  podsOf,
  production,
  renderings,
  type Workload,
  withIngress,
} from "../support/manifests.ts";
import { lookForPodSecurityFaults } from "../support/pod-security.ts";

describe.each(renderings)("$title", (rendering) => {
  const pods = podsOf(rendering);

  it("matches the Kubernetes API schemas and has no unknown fields", async () => {
    const faults = rendering.objects.map(async (object) =>
      (await lookForSchemaFaults(object)).map((fault) => `${object.kind} ${object.metadata.name}: ${fault}`),
    );
    expect((await Promise.all(faults)).flat()).toEqual([]);
  });

  it("uses one namespace, which enforces restricted Pod Security", () => {
    const namespaces = objectsOf(rendering, "Namespace");
    expect(namespaces).toMatchObject([
      { metadata: { labels: { "pod-security.kubernetes.io/enforce": "restricted" } } },
    ]);
    const others = rendering.objects.filter(({ kind }) => !["Namespace", "PriorityClass"].includes(kind));
    expect(new Set(others.map(({ metadata }) => metadata.namespace))).toEqual(
      new Set(namespaces.map(({ metadata }) => metadata.name)),
    );
  });

  it("passes the restricted Pod Security checks", () => {
    expect(pods.flatMap((each) => lookForPodSecurityFaults(each).map((fault) => `${each.owner}: ${fault}`))).toEqual(
      [],
    );
  });

  it("uses only valid Kubernetes names", () => {
    const isLabel = (name = ""): boolean => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name);
    const names = rendering.objects.map(({ metadata }) => metadata.name);
    const portNames = pods.flatMap(containersOf).flatMap(({ ports = [] }) => ports.map(({ name }) => name));
    expect(names.filter((name) => !isLabel(name))).toEqual([]);
    expect(portNames.filter((name) => !isLabel(name) || `${name}`.length > 15)).toEqual([]);
  });

  it.each(pods)("gives $owner a read-only root, resource limits and no access to the Kubernetes API", (each) => {
    const account = objectsOf(rendering, "ServiceAccount").find(({ metadata }) => metadata.name === each.name);
    expect(account).toMatchObject({ automountServiceAccountToken: false });
    expect(each.spec).toMatchObject({
      serviceAccountName: each.name,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
    });
    for (const { name, securityContext, resources } of containersOf(each)) {
      expect(securityContext?.readOnlyRootFilesystem, name).toBe(true);
      for (const sizes of [resources?.requests, resources?.limits]) {
        expect(Object.keys(sizes ?? {}), name).toEqual(["cpu", "memory", "ephemeral-storage"]);
      }
    }
  });
});

/** Served by every Kubernetes since 1.25, and not deprecated. */
const coreVersions = ["apps/v1", "autoscaling/v2", "batch/v1", "networking.k8s.io/v1", "policy/v1", "v1"];

describe.each([
  [base, []],
  [dev, []],
  [withIngress, []],
  [production, ["gateway.networking.k8s.io/v1", "cert-manager.io/v1"]],
])("$0.title", ({ objects }, customVersions) => {
  it("uses no deprecated API version and only the documented custom resources", () => {
    const versions = new Set(objects.map(({ apiVersion }) => apiVersion));
    expect([...versions].filter((version) => !coreVersions.includes(version))).toEqual(customVersions);
  });
});

describe("the manifest checks", () => {
  const deployment = (): KubernetesObject & Workload =>
    structuredClone(objectsOf<Workload>(base, "Deployment")[0] as never);

  it.each([
    ["an unknown field", { readinesProbe: {} }, "readinesProbe is not a field"],
    ["a value of the wrong type", { command: "node" }, "must be array"],
    ["an invalid quantity", { resources: { limits: { memory: "much" } } }, "limits/memory"],
  ])("reject %s", async (_, change, message) => {
    const object = deployment();
    Object.assign(object.spec.template.spec.containers[0] as object, change);
    expect((await lookForSchemaFaults(object)).join()).toContain(message);
  });

  it("reject an API version that does not exist", async () => {
    const faults = await lookForSchemaFaults({ ...deployment(), apiVersion: "apps/v9" });
    expect(faults).toEqual(["there is no Deployment in apps/v9"]);
  });

  it.each([
    ["that runs as root", { runAsUser: 0 }],
    ["that is privileged", { privileged: true }],
    ["that keeps its capabilities", { capabilities: {} }],
    ["that may gain privileges", { allowPrivilegeEscalation: true }],
  ])("reject a container %s", (_, change) => {
    const pods = structuredClone(podsOf(base)[0] as Pods);
    Object.assign(pods.spec.containers[0]?.securityContext as object, change);
    expect(lookForPodSecurityFaults(pods)).toHaveLength(1);
  });

  it("reject two objects with the same name", () => {
    const components = ["ingress", "ingress"].map((name) =>
      fileURLToPath(new URL(`../../deploy/kubernetes/components/${name}`, import.meta.url)),
    );
    const folder = fileURLToPath(new URL("../../deploy/kubernetes/base", import.meta.url));
    expect(() => renderKustomization(folder, components)).toThrow("Ingress gateway is there twice");
  });
});
