import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type Container,
  containersOf,
  environmentOf,
  findData,
  getPods,
  isOurs,
  mainContainerOf,
  objectsOf,
  type Pods,
  podsOf,
  renderings,
  type Service,
} from "../support/manifests.ts";
import { lookForEnvironmentFaults, readConfigOf } from "../support/process-environment.ts";

describe.each(renderings)("$title", (rendering) => {
  const containers = podsOf(rendering).flatMap((pods) =>
    containersOf(pods)
      .filter((container) => isOurs(container) && container.name !== "make-signing-key")
      .map((container) => ({ title: `${container.name} of ${pods.owner}`, pods, container })),
  );

  it.each(containers)("sets every variable that $title requires and none that it does not read", ({ container }) => {
    expect(lookForEnvironmentFaults(container.command ?? [], environmentOf(rendering, container))).toEqual([]);
  });

  it.each(containers)("gives $title only file paths that its volumes provide", ({ pods, container }) => {
    const files = Object.values(environmentOf(rendering, container)).filter((value) => value.startsWith("/"));
    expect(filesOf(pods, container)).toEqual(expect.arrayContaining(files));
  });

  it.each([
    ["gateway", { http: "port", metrics: "metricsPort" }],
    ["preset", { grpc: "grpcPort", http: "httpPort" }],
    ["organization", { grpc: "grpcPort", http: "httpPort" }],
  ])("opens the ports that %s listens on", (name, fields) => {
    const container = mainContainerOf(getPods(rendering, name));
    const config = readConfigOf(container.command ?? [], environmentOf(rendering, container)) as Record<
      string,
      unknown
    >;
    const listening = Object.entries(fields).map(([port, field]) => [port, config[field]]);
    expect(container.ports?.map((port) => [port.name, port.containerPort])).toEqual(listening);
  });

  it("points gRPC targets at existing headless Services", () => {
    const services = objectsOf<Service>(rendering, "Service");
    const find = (host: string | undefined) => services.find(({ metadata }) => metadata.name === host)?.spec;
    const environment = Object.assign({}, ...containers.map(({ container }) => environmentOf(rendering, container)));
    for (const name of ["PRESET_GRPC_TARGET", "ORGANIZATION_GRPC_TARGET"]) {
      const [, host, port] = environment[name].match(/^dns:\/\/\/([a-z-]+):(\d+)$/) ?? [];
      // Headless: a name with one virtual address would pin a gateway to one pod.
      expect(find(host), name).toMatchObject({ clusterIP: "None", ports: [{ port: Number(port) }] });
    }
  });

  function filesOf({ spec }: Pods, { volumeMounts = [] }: Container): string[] {
    return volumeMounts.flatMap(({ name, mountPath }) => {
      const volume = spec.volumes?.find((each) => each.name === name);
      // In the dev overlay an init container writes the file.
      const made = spec.initContainers?.filter((each) => each.volumeMounts?.some((mount) => mount.name === name)) ?? [];
      const written = made.flatMap(({ command = [] }) => command.join(" ").match(/(?<=")\/etc\/[^"]+/g) ?? []);
      const keys = Object.keys({
        ...findData(rendering, "Secret", volume?.secret?.secretName ?? ""),
        ...findData(rendering, "ConfigMap", volume?.configMap?.name ?? ""),
      });
      return [...keys.map((key) => `${mountPath}/${key}`), ...written.filter((file) => dirname(file) === mountPath)];
    });
  }
});
