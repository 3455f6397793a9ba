import type { Member } from "../../api/types.ts";

/** The name of each role, in the order in which they are offered. */
export const roleNames: Readonly<Record<Member["role"], string>> = { "org:member": "Member", "org:admin": "Admin" };
