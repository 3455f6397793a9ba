import { hash } from "node:crypto";
import type { Principal } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { isSecret } from "../../services/platform/auth/key-format.ts";
import type { IsChanged } from "./key-exchange.ts";

/** Whether a key is the one with this id, by whichever of its secrets it is used. */
export function isOfKey(id: string | undefined): IsChanged {
  return ({ keyId }) => keyId === id;
}

/**
 * Whether a secret may be one of the key that an administrator of an organization names by its id or hash. Of a session
 * nobody here knows the hash of its key, so all of the organization's may be.
 */
export function mayBeOfKey(name: string, { organizationId }: Principal): IsChanged {
  const named = name.toLowerCase();
  return (principal, secret) => {
    if (principal.organizationId !== organizationId) return false;
    return principal.keyId === named || isSecret("session", secret) || hash("sha256", secret) === named;
  };
}
