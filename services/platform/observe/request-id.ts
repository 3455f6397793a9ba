import { containsKey } from "../auth/key-format.ts";

const id = "[\\w.:/+=~-]{1,128}";
const oneId = new RegExp(`^${id}$`);
/** At most as many as a gateway combines into one RPC. */
const severalIds = new RegExp(`^${id}(?:[,|]${id}){0,63}$`);

/** A caller's own request id, if it is safe to log and to echo. */
export function saneRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" && oneId.test(header) && !containsSecret(header) ? header : undefined;
}

/**
 * The ids of all requests that a call is made for: `a,b` for the parts of a batch, `a|b` for a part that several
 * requests share. For an unauthenticated caller only the first is kept; the others are counted: `a +1`.
 */
export function saneRequestIds(header: string | undefined, isCallerKnown: boolean): string | undefined {
  if (header === undefined || !severalIds.test(header) || containsSecret(header)) return undefined;
  if (isCallerKnown) return header;
  const [first, ...others] = header.split(/[,|]/);
  return others.length === 0 ? first : `${first} +${others.length}`;
}

/** The ids of one part of a batch; if they cannot be told apart, those of the batch. */
export function requestIdsOfPart(ids: string | undefined, part: number): string | undefined {
  return ids?.includes(",") ? (ids.split(",")[part] ?? ids) : ids;
}

/** Whether it contains one of our keys, or the beginning of a JWT: sent by mistake, it must not get into our log. */
function containsSecret(text: string): boolean {
  return containsKey(text) || text.includes("eyJ");
}
