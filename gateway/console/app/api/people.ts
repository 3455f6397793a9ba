import { signal } from "@preact/signals";
import { listAll } from "./list-all.ts";
import { session } from "./session.ts";
import type { Member } from "./types.ts";

interface KnownMembers {
  readonly byId: ReadonlyMap<string, Member>;
  /** Whether there are more than these. */
  readonly isCutShort: boolean;
}

const nobody: KnownMembers = { byId: new Map(), isCutShort: false };

/** Only a management key may list them. */
const members = signal(nobody);

/** The key that the members are being loaded with for the first time. */
const loadingFor = signal<string>();
/** The longest that anything shown with names waits for them. */
const namesWaitMs = 2_000;

/** Loads the members' names for whoever is signed in now, and forgets those loaded for the previous session. */
export async function loadNames(): Promise<void> {
  members.value = nobody;
  const currentKey = session.value?.key;
  loadingFor.value = currentKey?.kind === "management" ? currentKey.id : undefined;
  if (loadingFor.value === undefined) return;
  const settle = (): void => {
    if (loadingFor.value === currentKey?.id) loadingFor.value = undefined;
  };
  setTimeout(settle, namesWaitMs);
  await listMembers().finally(settle);
}

/** Whether names are being loaded and are worth waiting for. */
export function areNamesLoading(): boolean {
  return loadingFor.value !== undefined;
}

/** Lists all members and remembers their names. A user who is not among them is shown by id. */
export async function listMembers(): Promise<readonly Member[]> {
  const currentKey = session.value?.key.id;
  const { items, isCutShort } = await listAll<Member>("/api/v1/organization/members");
  // Somebody else may have signed in by now.
  if (session.value?.key.id === currentKey) {
    members.value = { byId: new Map(items.map((member) => [member.id, member])), isCutShort };
  }
  return items;
}

/** The members that are known so far. */
export function knownMembers(): readonly Member[] {
  return [...members.value.byId.values()];
}

/** Whether there are more members than those who are listed. */
export function areMembersCutShort(): boolean {
  return members.value.isCutShort;
}

export function nameOf({ first_name, last_name, email }: Member): string {
  return [first_name, last_name].filter(Boolean).join(" ") || email;
}

/** The name of a user if it is known; otherwise the start of their id, which sets them apart from others. */
export function personName(userId: string | null): string {
  if (userId === null) return "An operator";
  const own = session.value;
  const member = members.value.byId.get(userId);
  if (userId === own?.user_id) return own.name || own.email || (member && nameOf(member)) || "You";
  if (member) return nameOf(member);
  return `${areAllKnown() ? "Former member" : "Colleague"} ${userId.replace(/^user_/, "").slice(0, 4)}`;
}

/** Why no name is shown for a user; undefined if there is one, or if it is still being loaded. */
export function reasonNameUnknown(userId: string): string | undefined {
  if (userId === session.value?.user_id || members.value.byId.has(userId)) return undefined;
  if (areAllKnown()) return "This person has left the organization";
  if (session.value?.key.kind !== "management") return "Names of colleagues are shown only with a management key";
  return undefined;
}

/** Whether all members are known, so that anybody else is not a member. */
function areAllKnown(): boolean {
  return members.value.byId.size > 0 && !members.value.isCutShort;
}

/**
 * Tells people with the same name apart: their email address, or their id if that address is unknown or serves as their
 * name.
 */
export function personNote(userId: string): string {
  const email = members.value.byId.get(userId)?.email;
  return email === undefined || email === personName(userId) ? userId : email;
}
