import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { IContainer as Container } from "kubernetes-models/v1/Container";
import type { IPodSpec as PodSpec } from "kubernetes-models/v1/PodSpec";
import { type KubernetesObject, readObjects, renderKustomization } from "./kustomize.ts";

export type { Container, PodSpec };

const kubernetes = fileURLToPath(new URL("../../deploy/kubernetes/", import.meta.url));

/**
 * What one way of installing Setpoint sends to the API server, and the Secrets and ConfigMaps that it expects there.
 */
export interface Rendering {
  readonly title: string;
  readonly objects: readonly KubernetesObject[];
  readonly expected: readonly KubernetesObject[];
}

function render(title: string, folder: string, components: readonly string[], expected: readonly KubernetesObject[]) {
  const moreComponents = components.map((component) => join(kubernetes, "components", component));
  const objects = renderKustomization(join(kubernetes, folder), moreComponents);
  return { title, objects, expected: [...expected, ...objects.flatMap(secretOfCertificate)] };
}

/** The Secret that cert-manager creates. */
function secretOfCertificate({ kind, spec }: KubernetesObject): KubernetesObject[] {
  if (kind !== "Certificate") return [];
  const name = (spec as { secretName: string }).secretName;
  const stringData = { "tls.crt": "PEM", "tls.key": "PEM", "ca.crt": "PEM" };
  return [{ apiVersion: "v1", kind: "Secret", metadata: { name }, stringData }];
}

const databaseAuthority = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "database-ca" },
  data: { "ca.crt": "PEM" },
};
const documentedSecrets = readObjects(join(kubernetes, "overlays/production/secrets.example.yaml"));

export const base = render("base", "base", [], documentedSecrets);
export const dev = render("the dev overlay", "overlays/dev", [], []);
export const production = render("the production overlay", "overlays/production", [], documentedSecrets);
export const vitess = render("the Vitess overlay", "overlays/vitess", [], documentedSecrets);
export const galera = render("the Galera overlay", "overlays/galera", [], documentedSecrets);
export const withIngress = render(
  "base behind an Ingress",
  "base",
  ["../overlays/production/ingress", "upstreams"],
  [...documentedSecrets, ...readObjects(join(kubernetes, "overlays/production/ingress/secrets.example.yaml"))],
);
export function productionWith(component: string): Rendering {
  return render(`the production overlay with ${component}`, "overlays/production", [component], documentedSecrets);
}

export const withEveryComponent = render(
  "base with every component",
  "base",
  [
    ...["high-availability", "gateway-api", "internal-callers", "metrics-scraping", "mtls", "database-ca"],
    ...["upstreams", "cluster-upstreams", "registry-credentials", "priority-class", "traces"],
  ],
  [...documentedSecrets, databaseAuthority],
);

export const renderings: readonly Rendering[] = [
  base,
  dev,
  production,
  vitess,
  galera,
  withIngress,
  withEveryComponent,
];

export function objectsOf<T>({ objects }: Rendering, kind: string): (T & KubernetesObject)[] {
  return objects.filter((object) => object.kind === kind) as (T & KubernetesObject)[];
}

/** The pods that a workload creates. */
export interface Pods {
  /** Such as `Deployment gateway`. */
  readonly owner: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

/** A Deployment, StatefulSet or Job. */
export interface Workload {
  readonly spec: {
    readonly replicas?: number;
    readonly selector?: Selector;
    readonly strategy?: { readonly rollingUpdate?: { readonly maxSurge: number; readonly maxUnavailable: number } };
    readonly template: { readonly metadata: { labels: Record<string, string> }; readonly spec: PodSpec };
  };
}

export interface Service {
  readonly spec: {
    readonly clusterIP?: string;
    readonly selector: Record<string, string>;
    readonly ports: readonly { readonly name: string; readonly port: number; readonly targetPort: string }[];
  };
}

/** The labels that pods must have. An empty selector matches all pods. */
export interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values: string[] }[];
}

export function matches({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Pods["labels"]): boolean {
  const other = matchExpressions.find(({ operator }) => operator !== "In");
  if (other) throw new Error(`The operator ${other.operator} is not understood here`);
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ""))
  );
}

export function podsOf(rendering: Rendering): Pods[] {
  return ["Deployment", "StatefulSet", "Job"].flatMap((kind) =>
    objectsOf<Workload>(rendering, kind).map(({ metadata: { name }, spec: { template } }) => ({
      owner: `${kind} ${name}`,
      name,
      labels: template.metadata.labels,
      spec: template.spec,
    })),
  );
}

export function getPods(rendering: Rendering, name: string): Pods {
  const pods = podsOf(rendering).find((each) => each.name === name);
  if (!pods) throw new Error(`${rendering.title} has no pods ${name}`);
  return pods;
}

/** The only container, apart from init containers. */
export function mainContainerOf({ spec }: Pods): Container {
  return spec.containers[0] as Container;
}

export function containersOf({ spec }: Pods): Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers];
}

export function portsOf({ spec }: Pods): NonNullable<Container["ports"]> {
  return spec.containers.flatMap(({ ports = [] }) => ports);
}

/** Whether a container runs our image. */
export function isOurs({ image }: Container): boolean {
  return /(^|\/)setpoint([:@]|$)/.test(image ?? "");
}

/** The content of a ConfigMap or Secret; undefined if there is none with that name. */
export function findData(rendering: Rendering, kind: string, name: string): Record<string, string> | undefined {
  const candidates = [...rendering.objects, ...rendering.expected];
  const object = candidates.find((each) => each.kind === kind && each.metadata.name === name);
  const { data = {}, stringData = {} } = (object ?? {}) as Record<string, Record<string, string>>;
  const decoded = Object.entries(data).map(([key, value]) => [
    key,
    kind === "Secret" ? Buffer.from(value, "base64").toString() : value,
  ]);
  return object && { ...Object.fromEntries(decoded), ...stringData };
}

/** The variables of a container, as its process sees them. Throws if a reference leads nowhere. */
export function environmentOf(rendering: Rendering, container: Container): Record<string, string> {
  const get = (kind: string, name: string | undefined): Record<string, string> => {
    const data = findData(rendering, kind, name ?? "");
    if (!data) throw new Error(`There is no ${kind} ${name}`);
    return data;
  };
  const environment: Record<string, string> = {};
  for (const { configMapRef } of container.envFrom ?? []) {
    Object.assign(environment, get("ConfigMap", configMapRef?.name));
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const reference = valueFrom?.secretKeyRef;
    const found = reference ? get("Secret", reference.name)[reference.key] : value;
    if (found !== undefined) environment[name] = found;
    else if (!reference?.optional) throw new Error(`${name} has no value`);
  }
  return environment;
}
