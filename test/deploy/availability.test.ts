import { describe, expect, it } from "vitest";
import {
  dev,
  environmentOf,
  getPods,
  mainContainerOf,
  objectsOf,
  podsOf,
  production,
  type Workload,
} from "../support/manifests.ts";

interface Scaler {
  readonly spec: {
    readonly scaleTargetRef: object;
    readonly minReplicas: number;
    readonly maxReplicas: number;
    readonly behavior?: { readonly scaleDown?: object };
  };
}

const processes = podsOf(production).filter(({ owner }) => owner.startsWith("Deployment "));

describe.each(processes)("$owner", (pods) => {
  const { name, spec } = pods;
  const container = mainContainerOf(pods);
  const find = <T>(kind: string) => objectsOf<T>(production, kind).find(({ metadata }) => metadata.name === name);

  it("runs at least two pods and leaves the replica count to the autoscaler", () => {
    const scaler = find<Scaler>("HorizontalPodAutoscaler");
    expect(scaler?.spec.scaleTargetRef).toEqual({ apiVersion: "apps/v1", kind: "Deployment", name });
    expect(scaler?.spec.minReplicas).toBeGreaterThanOrEqual(2);
    // With load in waves, the pods are still there for the next wave.
    expect(scaler?.spec.behavior?.scaleDown).toMatchObject({ stabilizationWindowSeconds: 300 });
    // A fixed number would undo the autoscaler's at every apply.
    expect(find<Workload>("Deployment")?.spec.replicas).toBeUndefined();
  });

  it("loses at most one pod to a disruption and none to a rollout", () => {
    expect(find("PodDisruptionBudget")).toMatchObject({ spec: { maxUnavailable: 1 } });
    expect(find<Workload>("Deployment")?.spec.strategy?.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
  });

  it("prefers to spread over zones and nodes but does not require it", () => {
    expect(spec.topologySpreadConstraints).toMatchObject([
      { topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway" },
      { topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "ScheduleAnyway" },
    ]);
  });

  it("gives pods time to leave DNS and load balancers, drain and close", () => {
    const environment = environmentOf(production, container);
    const delaySeconds = Number(environment.SHUTDOWN_DELAY_MS) / 1000;
    const drainSeconds = Number(environment.DRAIN_TIMEOUT_MS) / 1000;
    // DNS answers are cached for up to 30 s: by CoreDNS as set up by kubeadm before 1.32, and by NodeLocal DNSCache.
    expect(delaySeconds).toBeGreaterThanOrEqual(name === "gateway" ? 15 : 30 + 10);
    // Otherwise the process would not know that it is about to end, and would not release its connections.
    expect(container.lifecycle?.preStop).toBeUndefined();
    // A process closes its two ports one after the other. The gateway's metrics port takes at most a second.
    const drainsSeconds = name === "gateway" ? drainSeconds + 1 : 2 * drainSeconds;
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(delaySeconds + drainsSeconds + 5);
  });

  it("probes /readyz for readiness and /healthz for startup and liveness", () => {
    const { startupProbe, readinessProbe, livenessProbe } = container;
    // Over HTTP: the gRPC port uses TLS, which probes do not support.
    expect(readinessProbe).toMatchObject({ httpGet: { path: "/readyz" } });
    expect(readinessProbe?.grpc).toBeUndefined();
    // Otherwise a pod that starts while its database is down would be killed, and then back off longer at each restart.
    expect([startupProbe, livenessProbe].map((probe) => probe?.httpGet?.path)).toEqual(["/healthz", "/healthz"]);
    expect(spec.initContainers).toBeUndefined();
  });
});

/** In addition to the pool of configured size. A replica for lists has its connections on another server. */
const connectionsForWrites: Readonly<Record<string, number>> = { preset: 6, organization: 2 };
/** Of a pod that shuts down: one per pool. */
const connectionsAtEnd: Readonly<Record<string, number>> = { preset: 3, organization: 2 };

describe("production", () => {
  it("stays within MySQL's default max_connections even while scaled out and rolling out", () => {
    const connections = processes
      .filter(({ name }) => name !== "gateway")
      .map((pods) => {
        const { name } = pods;
        const find = <T>(kind: string) => objectsOf<T>(production, kind).find(({ metadata }) => metadata.name === name);
        const podsMax = find<Scaler>("HorizontalPodAutoscaler")?.spec.maxReplicas ?? Number.NaN;
        const surge = find<Workload>("Deployment")?.spec.strategy?.rollingUpdate?.maxSurge ?? Number.NaN;
        const environment = environmentOf(production, mainContainerOf(pods));
        const poolSize = Number(environment[`${name.toUpperCase()}_DATABASE_POOL_SIZE`]);
        const running = (podsMax + surge) * (poolSize + (connectionsForWrites[name] ?? Number.NaN));
        // A rollout does not wait for pods to be gone: at worst, all replaced pods are shutting down at once.
        return running + podsMax * (connectionsAtEnd[name] ?? Number.NaN);
      });
    // max_connections is 151, and each of the two migrations temporarily uses two.
    expect(connections.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(151 - 2 * 2);
  });

  it.each([
    ["preset", 50051],
    ["organization", 50052],
  ])("probes %s over gRPC when TLS is off", (name, port) => {
    expect(mainContainerOf(getPods(dev, name)).readinessProbe).toMatchObject({ grpc: { port } });
  });
});
