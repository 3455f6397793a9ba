import { createHash } from "node:crypto";
import type { Principal } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { isSecret } from "../../services/platform/auth/key-format.ts";
import type { IsChanged } from "./key-exchange.ts";

/**
 * Whether a secret may be one of the key that an administrator of an organization names by its id or hash. Of a session
 * nobody here knows the hash of its key, so all of the organization's may be.
 */
export function mayBeOfKey(name: string, { organizationId }: Principal): IsChanged {
  const named = name.toLowerCase();
  return (principal, secret) => {
    if (principal.organizationId !== organizationId) return false;
    return principal.keyId === named || isSecret("session", secret) || hashOf(secret) === named;
  };
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
