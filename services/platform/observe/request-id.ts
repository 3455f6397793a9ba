import { holdsKey } from "../auth/key-format.ts";

const id = "[\\w.:/+=~-]{1,128}";
const oneId = new RegExp(`^${id}$`);
/** At most as many as a gateway gathers into one RPC. */
const severalIds = new RegExp(`^${id}(?:[,|]${id}){0,63}$`);

/** A caller's own request id, where it is safe to log and to echo. */
export function saneRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" && oneId.test(header) && !holdsSecret(header) ? header : undefined;
}

/**
 * The ids of all requests that a call is made for: `a,b` for the parts of a batch, `a|b` for a part that several asked for.
 * A stranger's line has room for the first; the others are counted: `a +1`.
 */
export function saneRequestIds(header: string | undefined, isCallerKnown: boolean): string | undefined {
  if (header === undefined || !severalIds.test(header) || holdsSecret(header)) return undefined;
  if (isCallerKnown) return header;
  const [first, ...others] = header.split(/[,|]/);
  return others.length === 0 ? first : `${first} +${others.length}`;
}

/** Those of one part of a batch; where they are not told apart, those of the batch. */
export function requestIdsOfPart(ids: string | undefined, part: number): string | undefined {
  return ids?.includes(",") ? (ids.split(",")[part] ?? ids) : ids;
}

/** Whether there is a key of ours in it, or what every JWT begins with: sent by mistake, it must not get into our log. */
function holdsSecret(text: string): boolean {
  return holdsKey(text) || text.includes("eyJ");
}
