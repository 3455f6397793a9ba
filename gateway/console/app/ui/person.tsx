import { signal } from "@preact/signals";
import { request } from "../api/request.ts";
import { session } from "../api/session.ts";
import type { Member, Page } from "../api/types.ts";

/** The names of members by their id. Only a management key may ask for them. */
const names = signal<ReadonlyMap<string, string>>(new Map());

/** For whoever is signed in now; nothing stays of the one before. */
export async function loadNames(): Promise<void> {
  names.value = new Map();
  if (session.value?.key.kind === "management") await listMembers();
}

/** A thousand are enough to tell people apart; whoever is further down is shown by their id. Their names are known then. */
export async function listMembers(): Promise<readonly Member[]> {
  const found: Member[] = [];
  for (let offset = 0; offset < 1_000; offset += 100) {
    const { json } = await request<Page<Member>>(`/api/v1/organization/members?limit=100&offset=${offset}`);
    found.push(...json.data);
    if (offset + 100 >= json.total_count) break;
  }
  names.value = new Map(found.map((member) => [member.id, nameOf(member)]));
  return found;
}

export function nameOf({ first_name, last_name, email }: Member): string {
  return [first_name, last_name].filter(Boolean).join(" ") || email;
}

/** The name of a user, as far as it is known. */
export function personName(userId: string | null): string {
  if (userId === null) return "A command";
  const own = session.value;
  if (userId === own?.user_id) return own.name || own.email || names.value.get(userId) || "You";
  return names.value.get(userId) ?? `${userId.slice(0, 11)}…`;
}

export function Person({ id }: { readonly id: string | null }) {
  const name = personName(id);
  // The name too, for it may be cut.
  return <span title={id === null ? undefined : `${name} (${id})`}>{name}</span>;
}
