import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readGatewayConfig } from "../../gateway/config.ts";
import { defaultTimeouts } from "../../gateway/inference/upstreams/upstream-timeouts.ts";
import { parseUpstreams } from "../../gateway/inference/upstreams/upstreams-file.ts";
import {
  base,
  dev,
  environmentOf,
  findData,
  getPods,
  mainContainerOf,
  objectsOf,
  production,
  type Rendering,
  withIngress,
} from "../support/manifests.ts";

const deploy = (path: string) => fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url));
const readTable = (path: string): { readonly upstreams: readonly Upstream[] } =>
  JSON.parse(readFileSync(deploy(path), "utf8"));

interface Upstream {
  readonly name: string;
  readonly base_url: string;
  readonly credential?: { readonly env?: string; readonly file?: string };
}

const examples = readTable("kubernetes/overlays/production/upstreams.example.json").upstreams;
const mebibyte = 1024 * 1024;

describe("the upstream table", () => {
  it.each([base, dev, production])("is empty by default in $title", (rendering) => {
    const pods = getPods(rendering, "gateway");
    const file = environmentOf(rendering, mainContainerOf(pods)).UPSTREAMS_FILE ?? "";
    const volume = pods.spec.volumes?.find(({ name }) => name === "upstreams");
    const table = findData(rendering, "ConfigMap", volume?.configMap?.name ?? "")?.[file.split("/").at(-1) ?? ""];
    expect(JSON.parse(table ?? "")).toEqual({ upstreams: [] });
  });

  it("is empty by default in compose", () => {
    expect(readTable("upstreams/upstreams.json")).toEqual({ upstreams: [] });
  });

  it("has an example for each kind of upstream, with the catch-all last", () => {
    const text = readFileSync(deploy("kubernetes/overlays/production/upstreams.example.json"), "utf8");
    expect(parseUpstreams(text).map(({ name }) => name)).toEqual(examples.map(({ name }) => name));
    expect(examples.map(({ name }) => name)).toEqual(["openai", "anthropic", "vllm", "openrouter"]);
  });
});

describe("upstream credentials", () => {
  it("come from an optional, documented Secret that only the gateway mounts", () => {
    const files = examples.flatMap(({ credential }) => (credential ? [credential.file] : []));
    const volumes = (rendering: Rendering, name: string) => getPods(rendering, name).spec.volumes ?? [];
    const [mount] = (mainContainerOf(getPods(production, "gateway")).volumeMounts ?? []).filter(
      ({ name }) => name === "upstream-credentials",
    );
    const documented = Object.keys(findData(production, "Secret", "upstream-credentials") ?? {});
    expect(files).toEqual(documented.map((key) => `${mount?.mountPath}/${key}`));
    expect(volumes(production, "gateway").find(({ name }) => name === mount?.name)?.secret).toEqual({
      secretName: "upstream-credentials",
      optional: true,
      defaultMode: 0o440,
    });
    expect(JSON.stringify(["preset", "organization"].map((name) => volumes(production, name)))).not.toContain(
      "upstream",
    );
  });

  it("are not in the environment by default", () => {
    const { env = [] } = mainContainerOf(getPods(production, "gateway"));
    expect(env.filter(({ valueFrom }) => valueFrom !== undefined)).toEqual([]);
    expect(examples.flatMap(({ credential }) => credential?.env ?? [])).toEqual([]);
  });
});

describe("a long generation", () => {
  /** The timeouts of an answer that is not streamed: for its first byte, and in total. */
  const firstByteSeconds = defaultTimeouts.firstByteMs / 1000;
  const wholeSeconds = defaultTimeouts.totalMs / 1000;

  it("is not buffered, cut off or rejected for its size by the Ingress", () => {
    const [ingress] = objectsOf(withIngress, "Ingress");
    const setting = (name: string) => ingress?.metadata.annotations?.[`nginx.ingress.kubernetes.io/${name}`] ?? "";
    expect([setting("proxy-buffering"), setting("proxy-request-buffering")]).toEqual(["off", "off"]);
    expect(Number(setting("proxy-read-timeout"))).toBeGreaterThan(firstByteSeconds);
    expect(Number.parseInt(setting("proxy-body-size"), 10) * mebibyte).toBeGreaterThanOrEqual(
      readGatewayConfig({}).inferenceBodyBytesMax,
    );
  });

  it("is not cut off by the HTTPRoute timeouts", () => {
    const [route] = objectsOf<{ spec: { rules: { timeouts?: object }[] } }>(production, "HTTPRoute");
    const limit = `${wholeSeconds / 60}m`;
    expect(route?.spec.rules.map(({ timeouts }) => timeouts)).toEqual([{ request: limit, backendRequest: limit }]);
  });

  it("has at least five minutes to finish when the gateway shuts down", () => {
    const drainMs = Number(environmentOf(production, mainContainerOf(getPods(production, "gateway"))).DRAIN_TIMEOUT_MS);
    expect(drainMs).toBeGreaterThanOrEqual(300_000);
  });
});
