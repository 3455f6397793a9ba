import { createHash } from "node:crypto";
import { keyFromBytes } from "../../services/platform/auth/key-format.ts";

/** What an id made here belongs to; ids of different kinds never meet. */
const idKinds = { organization: 1, workspace: 2, preset: 3, version: 4, key: 5 } as const;
type IdKind = keyof typeof idKinds;

/** The n-th id of its kind: a valid UUIDv7, so that bulk SQL and this process can both say it. */
export function numberedId(kind: IdKind, n: number): string {
  const digits = n.toString(16).padStart(12, "0");
  return `01900000-000${idKinds[kind]}-7000-8000-${digits}`;
}

/** The same as SQL, for a number that is an SQL expression. */
export function numberedIdSql(kind: IdKind, n: string): string {
  return `UNHEX(CONCAT('01900000000${idKinds[kind]}70008000', LPAD(HEX(${n}), 12, '0')))`;
}

/** The slug of the n-th filled preset of a workspace. */
export function numberedSlug(n: number): string {
  return `preset-${String(n).padStart(7, "0")}`;
}

export function numberedSlugSql(n: string): string {
  return `CONCAT('preset-', LPAD(${n}, 7, '0'))`;
}

/** The secret of the n-th key, which the one who fills and the one who calls can both say. */
export function numberedKey(n: number): string {
  return keyFromBytes(createHash("sha256").update(`bench key ${n}`).digest());
}
