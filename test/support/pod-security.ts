import { type Container, containersOf, type Pods } from "./manifests.ts";

const allowedVolumes = [
  ...["configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected"],
  "secret",
];

/**
 * What the Pod Security Standard "restricted" rejects in pods:
 * https://kubernetes.io/docs/concepts/security/pod-security-standards
 */
export function lookForPodSecurityFaults(pods: Pods): string[] {
  const { hostNetwork, hostPID, hostIPC, volumes = [], securityContext: context = {} } = pods.spec;
  const volumeKinds = volumes.flatMap((volume) => Object.keys(volume).filter((key) => key !== "name"));
  return named({
    "shares a namespace of the node": hostNetwork || hostPID || hostIPC,
    "has a volume of a kind that is not allowed": volumeKinds.some((kind) => !allowedVolumes.includes(kind)),
    "sets sysctls": (context.sysctls ?? []).length > 0,
    "sets SELinux options": context.seLinuxOptions !== undefined,
    "runs as user 0": context.runAsUser === 0,
  }).concat(containersOf(pods).flatMap((container) => lookForContainerFaults(container, context)));
}

function lookForContainerFaults(
  { name, securityContext: own = {}, ports = [] }: Container,
  pod: NonNullable<Pods["spec"]["securityContext"]>,
): string[] {
  const { add = [], drop = [] } = own.capabilities ?? {};
  const seccomp = (own.seccompProfile ?? pod.seccompProfile)?.type ?? "none";
  return named({
    "is privileged": own.privileged,
    "may gain privileges": own.allowPrivilegeEscalation !== false,
    "keeps capabilities": !drop.includes("ALL") || add.some((capability) => capability !== "NET_BIND_SERVICE"),
    "may run as root": (own.runAsNonRoot ?? pod.runAsNonRoot) !== true || own.runAsUser === 0,
    "has no seccomp profile": !["RuntimeDefault", "Localhost"].includes(seccomp),
    "sees all of proc": (own.procMount ?? "Default") !== "Default",
    "takes a port of the node": ports.some(({ hostPort = 0 }) => hostPort !== 0),
  }).map((fault) => `${name} ${fault}`);
}

function named(faults: Readonly<Record<string, boolean | undefined>>): string[] {
  return Object.keys(faults).filter((name) => faults[name]);
}
