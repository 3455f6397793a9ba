import type { Key } from "../../api/types.ts";

type KeyLife = Pick<Key, "id" | "kind" | "disabled" | "expires_at">;

export function hasExpired({ expires_at }: Pick<Key, "expires_at">, nowMs = Date.now()): boolean {
  return expires_at !== null && Date.parse(expires_at) <= nowMs;
}

/** Until when the secret works that the last rotation replaced; undefined if only the current one works. */
export function previousSecretUntil(
  { previous_expires_at }: Pick<Key, "previous_expires_at">,
  nowMs: number,
): string | undefined {
  return previous_expires_at !== null && Date.parse(previous_expires_at) > nowMs ? previous_expires_at : undefined;
}

const soonMs = 7 * 86_400_000;

/** Whether a working key expires within a week, so that it is time to replace it. */
export function expiresSoon(key: Pick<Key, "disabled" | "expires_at">, nowMs = Date.now()): boolean {
  if (key.disabled || key.expires_at === null || hasExpired(key, nowMs)) return false;
  return Date.parse(key.expires_at) - nowMs < soonMs;
}

/** Until when a key works; minus infinity if it does not work now. */
function worksUntil(key: KeyLife, nowMs: number): number {
  if (key.disabled || hasExpired(key, nowMs)) return Number.NEGATIVE_INFINITY;
  return key.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at);
}

/** Why a key can be neither disabled nor deleted. `all` must be all keys of the organization's default workspace. */
export function reasonNotRemovable(key: KeyLife, all: readonly KeyLife[], nowMs = Date.now()): string | undefined {
  const until = worksUntil(key, nowMs);
  if (key.kind !== "management" || until === Number.NEGATIVE_INFINITY) return undefined;
  const hasSubstitute = all.some(
    (other) => other.id !== key.id && other.kind === "management" && worksUntil(other, nowMs) >= until,
  );
  if (hasSubstitute) return undefined;
  return "No other management key works as long as this one. Create another first, so that nobody is locked out.";
}
