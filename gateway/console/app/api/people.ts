import { signal } from "@preact/signals";
import { listAll, listedMax } from "./list-all.ts";
import { session } from "./session.ts";
import type { Member } from "./types.ts";

/** Members by their id. Only a management key may ask for them. */
const members = signal<ReadonlyMap<string, Member>>(new Map());

/** The key in whose name the members are being loaded for the first time. */
const loadingFor = signal<string>();
/** What is to be shown with names does not wait longer for them. */
const namesWaitMs = 2_000;

/** Loads the names of members for whoever is signed in now; nothing stays of the one before. */
export async function loadNames(): Promise<void> {
  members.value = new Map();
  const asker = session.value?.key;
  loadingFor.value = asker?.kind === "management" ? asker.id : undefined;
  if (loadingFor.value === undefined) return;
  const settle = (): void => {
    if (loadingFor.value === asker?.id) loadingFor.value = undefined;
  };
  setTimeout(settle, namesWaitMs);
  await listMembers().finally(settle);
}

/** Whether names are on their way, and worth waiting for. */
export function areNamesComing(): boolean {
  return loadingFor.value !== undefined;
}

/** All members, whose names are known from then on. Whoever is not among them is shown by their id. */
export async function listMembers(): Promise<readonly Member[]> {
  const asker = session.value?.key.id;
  const found = await listAll<Member>("/api/v1/organization/members");
  // Somebody else may have signed in meanwhile.
  if (session.value?.key.id === asker) members.value = new Map(found.map((member) => [member.id, member]));
  return found;
}

/** The members that are known so far. */
export function knownMembers(): readonly Member[] {
  return [...members.value.values()];
}

export function nameOf({ first_name, last_name, email }: Member): string {
  return [first_name, last_name].filter(Boolean).join(" ") || email;
}

/** The name of a user, as far as it is known; else the beginning of their id, which tells them from others. */
export function personName(userId: string | null): string {
  if (userId === null) return "An operator";
  const own = session.value;
  const member = members.value.get(userId);
  if (userId === own?.user_id) return own.name || own.email || (member && nameOf(member)) || "You";
  if (member) return nameOf(member);
  return `${areAllKnown() ? "Former member" : "Colleague"} ${userId.replace(/^user_/, "").slice(0, 4)}`;
}

/** Why somebody has no name here; undefined if they have one, or it is still on its way. */
export function whyNameless(userId: string): string | undefined {
  if (userId === session.value?.user_id || members.value.has(userId)) return undefined;
  if (areAllKnown()) return "This person has left the organization";
  if (session.value?.key.kind !== "management") return "Names of colleagues are shown only with a management key";
  return undefined;
}

/** Whether somebody who is not among the members is none. */
function areAllKnown(): boolean {
  return members.value.size > 0 && members.value.size < listedMax;
}

/** What tells people of one name apart: their address, and their id where that is their name already, or not known. */
export function personNote(userId: string): string {
  const email = members.value.get(userId)?.email;
  return email === undefined || email === personName(userId) ? userId : email;
}
