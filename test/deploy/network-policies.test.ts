import { BlockList } from "node:net";
import { describe, expect, it } from "vitest";
import {
  base,
  dev,
  getPods,
  matches,
  objectsOf,
  type Pods,
  podsOf,
  portsOf,
  production,
  type Rendering,
  renderings,
  type Selector,
  withEveryComponent,
  withIngress,
} from "../support/manifests.ts";

interface Rule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports: readonly { readonly port: number; readonly protocol?: "TCP" | "UDP" }[];
}

interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface NetworkPolicy {
  readonly spec: {
    readonly podSelector: Selector;
    readonly policyTypes: readonly ("Ingress" | "Egress")[];
    readonly ingress?: readonly Rule[];
    readonly egress?: readonly Rule[];
  };
}

describe.each(renderings)("$title", (rendering) => {
  it("denies all traffic by default, ingress and egress", () => {
    const [denial] = objectsOf<NetworkPolicy>(rendering, "NetworkPolicy").filter(
      ({ metadata }) => metadata.name === "deny-all",
    );
    expect(denial?.spec).toEqual({ podSelector: {}, policyTypes: ["Ingress", "Egress"] });
  });

  it("declares every direction that a policy has rules for, and gives each rule peers and ports", () => {
    for (const { metadata, spec } of objectsOf<NetworkPolicy>(rendering, "NetworkPolicy")) {
      const { ingress = [], egress = [], policyTypes } = spec;
      const directions = [ingress.length > 0 && "Ingress", egress.length > 0 && "Egress"].filter(Boolean);
      expect(policyTypes, metadata.name).toEqual(expect.arrayContaining(directions));
      for (const rule of [...ingress, ...egress]) {
        expect((rule.from ?? rule.to)?.length, metadata.name).toBeGreaterThan(0);
        expect(rule.ports?.length, metadata.name).toBeGreaterThan(0);
      }
    }
  });
});

const databaseUsers = ["organization", "organization-migration", "preset", "preset-migration"];
const inside = ["gateway -> organization:50052", "gateway -> preset:50051", "preset -> organization:50052"];
const dns = (name: string) => [`${name} -> 169.254.20.10/32:53`, `${name} -> kube-system:53`];

describe("traffic between pods", () => {
  it.each([
    [base, inside],
    [production, inside],
    [withIngress, inside],
    [withEveryComponent, inside],
    [dev, [...inside, ...[...databaseUsers, "bootstrap"].map((name) => `${name} -> mysql:3306`)]],
  ])("$0.title allows exactly the connections in use, on both ends", (rendering, edges) => {
    expect(edgesBetweenPods(rendering)).toEqual([...edges].sort());
  });
});

describe("traffic from and to the outside", () => {
  it("production admits the Gateway and Prometheus, and allows egress to DNS, database and upstreams only", () => {
    const networks = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"];
    expect(edgesToOutside(production)).toEqual(
      [
        "gateway-system -> gateway:8080",
        "monitoring -> gateway:9080",
        "monitoring -> organization:8082",
        "monitoring -> preset:8081",
        ...["gateway", ...databaseUsers].flatMap(dns),
        ...databaseUsers.flatMap((name) => networks.map((network) => `${name} -> ${network}:3306`)),
        "gateway -> 0.0.0.0/0:443",
        "gateway -> ::/0:443",
      ].sort(),
    );
  });

  it("with the Ingress component, admits the ingress controller instead of the Gateway", () => {
    const edges = edgesToOutside(withIngress).filter((edge) => edge.endsWith("gateway:8080"));
    expect(edges).toEqual(["ingress-nginx -> gateway:8080"]);
  });

  it("dev admits labelled callers and allows egress to DNS only", () => {
    expect(edgesToOutside(dev)).toEqual(
      [
        "any namespace -> gateway:8080",
        "any namespace -> organization:50052",
        "any namespace -> organization:8082",
        "any namespace -> preset:50051",
        "any namespace -> preset:8081",
        ...["bootstrap", "gateway", "mysql", ...databaseUsers].flatMap(dns),
      ].sort(),
    );
  });
});

describe("the gateway's egress to upstreams", () => {
  it.each(["104.18.6.192", "2606:4700::6812:6c0"])("allows HTTPS to %s and no other port", (address) => {
    expect([443, 80, 53].filter((port) => gatewayMayReach(production, address, port))).toEqual([443]);
  });

  it.each(["10.1.2.3", "172.31.0.1", "192.168.1.1", "100.100.0.1", "169.254.169.254", "fd00:ec2::254", "fe80::1"])(
    "does not allow %s, a private or link-local address",
    (address) => {
      expect(gatewayMayReach(production, address, 443)).toBe(false);
    },
  );

  it("allows labelled upstreams in the cluster only with the component", () => {
    const edges = (rendering: Rendering) =>
      edgesToOutside(rendering).filter((edge) => edge.startsWith("gateway -> any"));
    expect(edges(production)).toEqual([]);
    expect(edges(withEveryComponent)).toEqual([11434, 8000, 8080].map((port) => `gateway -> any namespace:${port}`));
  });
});

it("allows traces to the collector only with the component", () => {
  const edges = (rendering: Rendering) => edgesToOutside(rendering).filter((edge) => edge.endsWith(":4318"));
  expect(edges(production)).toEqual([]);
  expect(edges(withEveryComponent)).toEqual(
    ["gateway", "organization", "preset"].map((name) => `${name} -> monitoring:4318`),
  );
});

function gatewayMayReach(rendering: Rendering, address: string, port: number): boolean {
  return rulesOf(rendering, getPods(rendering, "gateway"), "egress")
    .filter(({ ports }) => ports.some((each) => each.port === port))
    .flatMap(({ to = [] }) => to)
    .some(({ ipBlock }) => ipBlock && isIn(address, [ipBlock.cidr]) && !isIn(address, ipBlock.except ?? []));
}

function isIn(address: string, ranges: readonly string[]): boolean {
  const family = (text: string) => (text.includes(":") ? "ipv6" : "ipv4");
  const list = new BlockList();
  // A BlockList also treats an IPv4 address as an IPv6 one.
  for (const range of ranges.filter((each) => family(each) === family(address))) {
    const [network = "", prefix] = range.split("/");
    list.addSubnet(network, Number(prefix), family(network));
  }
  return list.check(address, family(address));
}

function rulesOf(rendering: Rendering, pods: Pods, direction: "ingress" | "egress"): Rule[] {
  return objectsOf<NetworkPolicy>(rendering, "NetworkPolicy")
    .filter(({ spec }) => matches(spec.podSelector, pods.labels))
    .flatMap(({ spec }) => spec[direction] ?? []);
}

function allows(rules: readonly Rule[], peer: Pods, port: number): boolean {
  return rules.some(
    ({ from, to, ports }) =>
      ports.some((each) => each.port === port && (each.protocol ?? "TCP") === "TCP") &&
      (from ?? to ?? []).some(
        ({ podSelector, namespaceSelector }) => podSelector && !namespaceSelector && matches(podSelector, peer.labels),
      ),
  );
}

/** A connection needs both: one pod may open it, and the other may accept it. */
function edgesBetweenPods(rendering: Rendering): string[] {
  const pods = podsOf(rendering);
  return pods
    .flatMap((from) =>
      pods.flatMap((to) =>
        portsOf(to)
          .map(({ containerPort }) => containerPort)
          .filter((port) => allows(rulesOf(rendering, from, "egress"), to, port))
          .filter((port) => allows(rulesOf(rendering, to, "ingress"), from, port))
          .map((port) => `${from.name} -> ${to.name}:${port}`),
      ),
    )
    .sort();
}

function edgesToOutside(rendering: Rendering): string[] {
  const edges = podsOf(rendering).flatMap((pods) => [
    ...rulesOf(rendering, pods, "ingress").flatMap(({ from = [], ports }) =>
      from.flatMap(outsideName).flatMap((name) => ports.map(({ port }) => `${name} -> ${pods.name}:${port}`)),
    ),
    ...rulesOf(rendering, pods, "egress").flatMap(({ to = [], ports }) =>
      to.flatMap(outsideName).flatMap((name) => ports.map(({ port }) => `${pods.name} -> ${name}:${port}`)),
    ),
  ]);
  return [...new Set(edges)].sort();
}

function outsideName({ namespaceSelector, ipBlock }: Peer): string[] {
  if (ipBlock) return [ipBlock.cidr];
  return namespaceSelector ? [namespaceSelector.matchLabels?.["kubernetes.io/metadata.name"] ?? "any namespace"] : [];
}
