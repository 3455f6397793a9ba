const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** How long a session lasts without being used, and in total. */
export const sessionIdleMaxMs = 12 * hourMs;
const sessionLifeMaxMs = 7 * 24 * hourMs;
export const ticketLifeMs = 5 * minuteMs;

export interface SessionTimes {
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
}

/** When a session ends, regardless of its key. */
export function sessionEnd({ createdAt, lastUsedAt }: SessionTimes): Date {
  return new Date(Math.min(createdAt.getTime() + sessionLifeMaxMs, lastUsedAt.getTime() + sessionIdleMaxMs));
}
