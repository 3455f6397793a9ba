import { describe, expect, it } from "vitest";
import { readObjects, visit } from "../support/kustomize.ts";
import {
  containersOf,
  dev,
  environmentOf,
  findData,
  getPods,
  mainContainerOf,
  matches,
  objectsOf,
  podsOf,
  portsOf,
  production,
  productionWith,
  type Rendering,
  renderings,
  type Selector,
  type Service,
  type Workload,
  withIngress,
} from "../support/manifests.ts";

describe.each(renderings)("$title", (rendering) => {
  const pods = podsOf(rendering);

  it("has no selector that matches no pods", () => {
    const inVain = rendering.objects.flatMap((object) =>
      selectorsIn(object)
        .filter((selector) => !pods.some(({ labels }) => matches(selector, labels)))
        .map((selector) => [object.kind, object.metadata.name, selector]),
    );
    expect(inVain).toEqual([]);
  });

  it("has workloads whose selectors match their own pods", () => {
    const workloads = ["Deployment", "StatefulSet"].flatMap((kind) => objectsOf<Workload>(rendering, kind));
    expect(workloads.length).toBeGreaterThanOrEqual(3);
    for (const { metadata, spec } of workloads) {
      expect(matches(spec.selector as Selector, spec.template.metadata.labels), metadata.name).toBe(true);
    }
  });

  it.each(pods)("resolves every ConfigMap, Secret, key and volume of $owner", (each) => {
    for (const container of containersOf(each)) {
      expect(() => environmentOf(rendering, container), container.name).not.toThrow();
      const volumes = (each.spec.volumes ?? []).map(({ name }) => name);
      expect(volumes, container.name).toEqual(
        expect.arrayContaining((container.volumeMounts ?? []).map(({ name }) => name)),
      );
    }
    const claims = objectsOf(rendering, "PersistentVolumeClaim").map(({ metadata }) => metadata.name);
    for (const { configMap, secret, persistentVolumeClaim: claim } of each.spec.volumes ?? []) {
      if (claim) expect(claims).toContain(claim.claimName);
      if (configMap) expect(findData(rendering, "ConfigMap", configMap.name ?? "")).toBeDefined();
      if (secret && !secret.optional) expect(findData(rendering, "Secret", secret.secretName ?? "")).toBeDefined();
    }
  });

  it("has no unused ConfigMap or Secret", () => {
    const text = JSON.stringify(pods);
    const unread = [...objectsOf(rendering, "ConfigMap"), ...objectsOf(rendering, "Secret")]
      .map(({ metadata }) => metadata.name)
      .filter((name) => !text.includes(`"${name}"`));
    expect(unread).toEqual([]);
  });

  it("points every Service at a port of its pods", () => {
    for (const { metadata, spec } of objectsOf<Service>(rendering, "Service")) {
      const names = pods.filter(({ labels }) => matches({ matchLabels: spec.selector }, labels)).flatMap(portsOf);
      expect(
        names.map(({ name }) => name),
        metadata.name,
      ).toEqual(expect.arrayContaining(spec.ports.map(({ targetPort }) => targetPort)));
    }
  });

  it.each(pods)("probes $owner on ports that it opens", ({ spec }) => {
    for (const { ports = [], startupProbe, readinessProbe, livenessProbe } of spec.containers) {
      const known = ports.flatMap(({ name, containerPort }) => [name, containerPort]);
      const probed = [startupProbe, readinessProbe, livenessProbe]
        .filter((probe) => probe !== undefined)
        .map(({ httpGet, grpc, tcpSocket }) => (httpGet ?? grpc ?? tcpSocket)?.port);
      expect(known).toEqual(expect.arrayContaining(probed));
    }
  });
});

const publicPaths = ["/api/", "/docs", "/console", "/openapi.json", "/"];

interface IngressPath {
  readonly path: string;
  readonly pathType: string;
  readonly backend: { readonly service: object };
}

describe("production", () => {
  it("has an external-secret example for each of its Secrets", () => {
    const examples = readObjects("deploy/kubernetes/overlays/production/external-secrets.example.yaml");
    expect(examples.map(({ metadata }) => metadata.name)).toEqual(
      production.expected.map(({ metadata }) => metadata.name).filter((name) => !isMadeByCertManager(production, name)),
    );
  });

  it.each(["preset", "organization"])("restarts %s when a Secret that it reads only at startup changes", (name) => {
    const { metadata } =
      objectsOf<Workload>(production, "Deployment").find((each) => each.metadata.name === name) ?? {};
    const { spec } = getPods(production, name);
    const read = [
      ...(mainContainerOf(getPods(production, name)).env ?? []).flatMap(
        ({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? [],
      ),
      ...(spec.volumes ?? []).flatMap(({ secret }) => secret?.secretName ?? []),
    ].filter((secret) => !secret.endsWith("-grpc-tls"));
    expect(metadata?.annotations?.["secret.reloader.stakater.com/reload"]).toBe([...new Set(read)].join(","));
  });
});

describe.each([production, withIngress])("$title", (rendering) => {
  it("sets PUBLIC_ORIGIN to the host of the API", () => {
    const hosts = [
      ...objectsOf<{ spec: { hostnames: string[] } }>(rendering, "HTTPRoute").flatMap(({ spec }) => spec.hostnames),
      ...objectsOf<{ spec: { rules: { host: string }[]; tls: { hosts: string[] }[] } }>(rendering, "Ingress").flatMap(
        ({ spec }) => [...spec.rules.map(({ host }) => host), ...spec.tls.flatMap(({ hosts }) => hosts)],
      ),
    ];
    const { PUBLIC_ORIGIN } = environmentOf(rendering, mainContainerOf(getPods(rendering, "gateway")));
    expect(new Set(hosts.map((host) => `https://${host}`))).toEqual(new Set([PUBLIC_ORIGIN]));
  });

  it("documents exactly the Secrets and keys that it uses", () => {
    const used: string[] = [];
    visit(rendering.objects, ({ secretKeyRef, secret, tls }) => {
      const { name, key } = (secretKeyRef ?? {}) as { name?: string; key?: string };
      if (name) used.push(`${name} ${key}`);
      // A volume exposes all keys of its Secret.
      const { secretName = "" } = (secret ?? {}) as { secretName?: string };
      used.push(...Object.keys(findData(rendering, "Secret", secretName) ?? {}).map((each) => `${secretName} ${each}`));
      const hosts = (tls ?? []) as { secretName: string }[];
      used.push(...hosts.flatMap((host) => [`${host.secretName} tls.crt`, `${host.secretName} tls.key`]));
    });
    const needed = [...new Set(used)].filter((each) => !isMadeByCertManager(rendering, each.split(" ")[0] ?? ""));
    const expected = rendering.expected.filter(({ metadata }) => !isMadeByCertManager(rendering, metadata.name));
    const documented = expected.flatMap(({ metadata, stringData }) =>
      Object.keys(stringData as object).map((key) => `${metadata.name} ${key}`),
    );
    expect(documented.sort()).toEqual(needed.sort());
  });
});

describe("production", () => {
  it.each(["preset", "organization"])("has a certificate for %s with every name that callers dial", (name) => {
    const certificates = objectsOf<{ spec: { dnsNames?: string[] } }>(production, "Certificate");
    const { spec } = certificates.find(({ metadata }) => metadata.name === `${name}-grpc`) ?? {};
    const inOthers = ["setpoint", "setpoint.svc", "setpoint.svc.cluster.local"].map((suffix) => `${name}.${suffix}`);
    expect(spec?.dnsNames).toEqual([`${name}-headless`, name, ...inOthers]);
  });

  it("keeps the CA's private key on renewal, so that old and new certificates verify", () => {
    const authority = objectsOf<{ spec: object }>(production, "Certificate").find(
      ({ metadata }) => metadata.name === "grpc-authority",
    );
    expect(authority?.spec).toMatchObject({ isCA: true, privateKey: { rotationPolicy: "Never" } });
  });

  it.each(["preset", "organization"])("declares the appProtocol of the gRPC port of %s", (name) => {
    const protocolOf = (rendering: Rendering) =>
      objectsOf<Service>(rendering, "Service").find(({ metadata }) => metadata.name === name)?.spec.ports[0];
    expect(protocolOf(dev)).toMatchObject({ name: "grpc", appProtocol: "kubernetes.io/h2c" });
    expect(protocolOf(production)).toMatchObject({ name: "grpc", appProtocol: "https" });
  });

  it.each(["accept", "call"])("sets the same TLS mode on all processes in the migration step: %s", (mode) => {
    const step = productionWith(`mtls-transition/${mode}`);
    const modes = ["gateway", "preset", "organization"].map(
      (name) => environmentOf(step, mainContainerOf(getPods(step, name))).GRPC_TLS_MODE,
    );
    expect(modes).toEqual([mode, mode, mode]);
  });

  it("exposes the API, docs and console to the public, but not the probes", () => {
    const [service] = objectsOf<Service>(production, "Service").filter(({ metadata }) => metadata.name === "gateway");
    expect(service?.spec.ports).toMatchObject([{ name: "http", port: 80, targetPort: "http" }]);
    const [ingress] = objectsOf<{ spec: { rules: [{ http: { paths: IngressPath[] } }] } }>(withIngress, "Ingress");
    const paths = ingress?.spec.rules[0].http.paths ?? [];
    expect(paths.map(({ path, backend }) => [path, backend.service])).toEqual(
      publicPaths.map((path) => [path, { name: "gateway", port: { name: "http" } }]),
    );
    // Some versions of ingress-nginx treat a dot as part of a regular expression, and then reject the Ingress.
    expect(
      paths.filter(({ path, pathType }) => path.includes(".") !== (pathType === "ImplementationSpecific")),
    ).toEqual([]);
    // With any other type it would match everything, including the probes.
    expect(paths.find(({ path }) => path === "/")?.pathType).toBe("Exact");
    expect(objectsOf(production, "HTTPRoute")).toMatchObject([
      {
        spec: {
          // A route without it is attached to every listener, including the one without TLS.
          parentRefs: [{ sectionName: "https" }],
          rules: [
            {
              matches: publicPaths.map((value) => ({ path: value === "/" ? { value, type: "Exact" } : { value } })),
              backendRefs: [{ name: "gateway", port: 80 }],
            },
          ],
        },
      },
    ]);
  });
});

function isMadeByCertManager(rendering: Rendering, secretName: string): boolean {
  return objectsOf<{ spec: { secretName: string } }>(rendering, "Certificate").some(
    ({ spec }) => spec.secretName === secretName,
  );
}

/** Every selector of our pods, except those that select all. */
function selectorsIn(object: Rendering["objects"][number]): Selector[] {
  const found: Selector[] = [];
  visit(object, ({ selector, labelSelector, podSelector, namespaceSelector }) => {
    if (selector) found.push((object.kind === "Service" ? { matchLabels: selector } : selector) as Selector);
    if (labelSelector) found.push(labelSelector as Selector);
    // Next to a namespace selector it selects pods of others.
    if (podSelector && !namespaceSelector) found.push(podSelector as Selector);
  });
  return found;
}
