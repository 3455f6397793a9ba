import type { KubernetesObject } from "./kustomize.ts";

/** Where the schemas of an API group come from. All others are from Kubernetes itself. */
const packages: Readonly<Record<string, string>> = {
  "gateway.networking.k8s.io": "@kubernetes-models/gateway-api",
  "cert-manager.io": "@kubernetes-models/cert-manager",
};

/** What the API server would reject in an object: violations of its schema, and unknown fields. */
export async function lookForSchemaFaults(object: KubernetesObject): Promise<string[]> {
  const group = object.apiVersion.split("/")[0] as string;
  const path = `${packages[group] ?? "kubernetes-models"}/${object.apiVersion}`;
  const models = (await import(path).catch(() => ({}))) as Record<string, { prototype: { validate(): void } }>;
  const model = models[object.kind];
  if (!model) return [`there is no ${object.kind} in ${object.apiVersion}`];
  const { tracked, unread } = trackReads(object);
  try {
    model.prototype.validate.call(tracked);
  } catch (error) {
    return [(error as Error).message];
  }
  return unread().map((field) => `${field} is not a field that the schema knows`);
}

/**
 * A copy that records which of its fields were read. The validators read every field that they know and no other, so an
 * unread field is one that a strict API server rejects.
 */
function trackReads(value: object, path = ""): { tracked: object; unread: () => string[] } {
  const read = new Set<string>();
  const children = new Map<string, ReturnType<typeof trackReads>>();
  for (const [key, child] of Object.entries(value)) {
    if (typeof child === "object" && child !== null) children.set(key, trackReads(child, `${path}/${key}`));
  }
  const tracked = new Proxy(value, {
    get(target, key) {
      read.add(String(key));
      return children.get(String(key))?.tracked ?? Reflect.get(target, key);
    },
  });
  const unread = (): string[] => [
    ...Object.keys(value)
      .filter((key) => !read.has(key))
      .map((key) => `${path}/${key}`),
    ...[...children].flatMap(([key, child]) => (read.has(key) ? child.unread() : [])),
  ];
  return { tracked, unread };
}
