import { hash } from "node:crypto";
import type { Principal } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { isSecret } from "../../services/platform/auth/key-format.ts";
import type { IsChanged } from "./unsettled-changes.ts";

/** Whether a key has this id, whichever of its secrets is used. */
export function isOfKey(id: string | undefined): IsChanged {
  return ({ keyId }) => keyId === id;
}

const hashPattern = /^[\da-f]{64}$/;

/**
 * Whether a secret may belong to the key that an administrator names by id or hash. The hash of a session's key is not
 * known here, so if one is named, any session of the organization may.
 */
export function mayBeOfKey(name: string, { organizationId }: Principal): IsChanged {
  const named = name.toLowerCase();
  const isHash = hashPattern.test(named);
  return (principal, secret) => {
    if (principal.organizationId !== organizationId) return false;
    if (!isHash) return principal.keyId === named;
    return isSecret("session", secret) || hash("sha256", secret) === named;
  };
}
