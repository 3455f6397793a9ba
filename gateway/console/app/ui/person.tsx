import { signal } from "@preact/signals";
import { listAll } from "../api/list-all.ts";
import { session } from "../api/session.ts";
import type { Member } from "../api/types.ts";

/** Members by their id. Only a management key may ask for them. */
const members = signal<ReadonlyMap<string, Member>>(new Map());

/** For whoever is signed in now; nothing stays of the one before. */
export async function loadNames(): Promise<void> {
  members.value = new Map();
  if (session.value?.key.kind === "management") await listMembers();
}

/** Their names are known then. Whoever is not among them is shown by their id. */
export async function listMembers(): Promise<readonly Member[]> {
  const found = await listAll<Member>("/api/v1/organization/members");
  members.value = new Map(found.map((member) => [member.id, member]));
  return found;
}

export function nameOf({ first_name, last_name, email }: Member): string {
  return [first_name, last_name].filter(Boolean).join(" ") || email;
}

/** The name of a user, as far as it is known. */
export function personName(userId: string | null): string {
  if (userId === null) return "A command";
  const own = session.value;
  const member = members.value.get(userId);
  if (userId === own?.user_id) return own.name || own.email || (member && nameOf(member)) || "You";
  return member ? nameOf(member) : `${userId.slice(0, 11)}…`;
}

/** What tells people of one name apart: their address, and their id where that is their name already, or not known. */
export function personNote(userId: string): string {
  const email = members.value.get(userId)?.email;
  return email === undefined || email === personName(userId) ? userId : email;
}

export function Person({ id }: { readonly id: string | null }) {
  const name = personName(id);
  // The name too, for it may be cut.
  return <span title={id === null ? undefined : `${name} (${id})`}>{name}</span>;
}
