/** Pauses between attempts: each about twice as long as the one before. */
interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** How long to wait before the next attempt. With jitter, so that two that collided do not meet again. */
export function backoffMs({ firstMs, maxMs }: Backoff, attempt: number): number {
  return Math.min(maxMs, firstMs * 2 ** attempt) * (0.5 + Math.random());
}
