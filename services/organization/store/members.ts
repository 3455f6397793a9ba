import { idToBytes } from "../../platform/domain/ids.ts";
import type { Page } from "../../platform/domain/page.ts";
import { isDuplicateKey } from "../../platform/mysql/errors.ts";
import { limitClause } from "../../platform/mysql/limit-clause.ts";
import type { Executor, ResultSetHeader, RowDataPacket } from "../../platform/mysql/pool.ts";
import { selectPage } from "../../platform/mysql/select-page.ts";
import { repeated } from "../../platform/mysql/text-by-count.ts";
import { emailKey, isUserId, type Member, type MemberRole, newUserId } from "../domain/members.ts";

// An older release may have added a member without the address. Only then is the user read: a join would take a fifth of
// the time of a page.
const memberColumns = `m.user_id, m.role, m.created_at, m.first_name, m.last_name,
  COALESCE(m.email, (SELECT email FROM users WHERE id = m.user_id)) AS email`;

interface MemberPage {
  readonly members: readonly Member[];
  /** How many members the organization has, not how many are on this page. */
  readonly totalCount: number;
}

interface MemberRow extends RowDataPacket {
  readonly member_count: number;
  /** Null in the one row of an empty page. */
  readonly user_id: string | null;
  readonly email: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly role: MemberRole;
  readonly created_at: Date;
}

/** A page of members, oldest membership first; undefined if the organization was deleted. */
export async function listMembers(
  executor: Executor,
  organizationId: string,
  page: Page,
): Promise<MemberPage | undefined> {
  const id = idToBytes(organizationId);
  const first = page.offset === 0 ? await selectFirstPage(executor, id, page.limit) : [];
  const rows = first.length > 0 ? first : await selectAnyPage(executor, id, page);
  return rows[0] && { members: rows.flatMap(memberFromRow), totalCount: rows[0].member_count };
}

/** In index order, so that nothing has to be sorted. Empty if there is no member or no organization. */
async function selectFirstPage(executor: Executor, id: Buffer, limit: number): Promise<MemberRow[]> {
  const [rows] = await executor.execute<MemberRow[]>(
    `SELECT o.member_count, ${memberColumns}
      FROM organizations o
      JOIN memberships m ON m.organization_id = o.id
      WHERE o.id = ? AND o.deleted_at IS NULL
      ORDER BY m.created_at, m.user_id ${limitClause(limit, 0)}`,
    [id],
  );
  return rows;
}

/** The organization comes first, so that a page past the end still has a row with the count. */
async function selectAnyPage(executor: Executor, id: Buffer, page: Page): Promise<MemberRow[]> {
  return selectPage<MemberRow>(
    executor,
    page,
    `SELECT o.member_count, ${memberColumns}
      FROM organizations o
      LEFT JOIN (
        SELECT user_id, role, created_at, first_name, last_name, email FROM memberships WHERE organization_id = ?
        ORDER BY created_at, user_id ${limitClause(page.limit, page.offset)}
      ) m ON TRUE
      WHERE o.id = ? AND o.deleted_at IS NULL
      ORDER BY m.created_at, m.user_id`,
    [id, id],
  );
}

export async function findMemberByEmail(
  executor: Executor,
  organizationId: string,
  email: string,
): Promise<Member | undefined> {
  const [rows] = await executor.execute<MemberRow[]>(
    `SELECT ${memberColumns} FROM users u
      JOIN memberships m ON m.user_id = u.id AND m.organization_id = ?
      WHERE u.email_key = ?`,
    [idToBytes(organizationId), emailKey(email)],
  );
  return rows.flatMap(memberFromRow)[0];
}

export async function findMember(
  executor: Executor,
  organizationId: string,
  userId: string,
): Promise<Member | undefined> {
  if (!isUserId(userId)) return undefined;
  const [rows] = await executor.execute<MemberRow[]>(
    `SELECT ${memberColumns} FROM memberships m WHERE m.organization_id = ? AND m.user_id = ?`,
    [idToBytes(organizationId), userId],
  );
  return rows.flatMap(memberFromRow)[0];
}

/** Those of these users who are members. */
export async function findMemberIds(
  executor: Executor,
  organizationId: string,
  userIds: readonly string[],
): Promise<Set<string>> {
  const known = userIds.filter(isUserId);
  if (known.length === 0) return new Set();
  const [rows] = await executor.execute<RowDataPacket[]>(
    `SELECT user_id FROM memberships WHERE organization_id = ? AND user_id IN (${repeated(known.length, "?")})`,
    [idToBytes(organizationId), ...known],
  );
  return new Set(rows.map((row) => row.user_id));
}

/** False if the user is already a member. Run it in a transaction: the count changes with the rows. */
export async function insertMembership(executor: Executor, organizationId: string, member: Member): Promise<boolean> {
  const id = idToBytes(organizationId);
  try {
    await executor.execute(
      `INSERT INTO memberships (organization_id, created_at, user_id, role, first_name, last_name, email)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
      [
        id,
        member.createdAt,
        member.userId,
        member.role,
        member.firstName ?? null,
        member.lastName ?? null,
        member.email,
      ],
    );
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
  await addToMemberCount(executor, id, 1);
  return true;
}

export async function updateMembership(executor: Executor, organizationId: string, member: Member): Promise<void> {
  await executor.execute(
    "UPDATE memberships SET role = ?, first_name = ?, last_name = ? WHERE organization_id = ? AND user_id = ?",
    [member.role, member.firstName ?? null, member.lastName ?? null, idToBytes(organizationId), member.userId],
  );
}

/** Run it in a transaction: the count changes with the rows. */
export async function deleteMembership(executor: Executor, organizationId: string, userId: string): Promise<void> {
  const id = idToBytes(organizationId);
  const [{ affectedRows }] = await executor.execute<ResultSetHeader>(
    "DELETE FROM memberships WHERE organization_id = ? AND user_id = ?",
    [id, userId],
  );
  if (affectedRows > 0) await addToMemberCount(executor, id, -1);
}

async function addToMemberCount(executor: Executor, organizationId: Buffer, change: 1 | -1): Promise<void> {
  await executor.execute("UPDATE organizations SET member_count = member_count + ? WHERE id = ?", [
    change,
    organizationId,
  ]);
}

/**
 * The id of the user with this address, who is created if there is none. Names, and the spelling of the address, belong
 * to a membership; those of a new user are also stored with the user for the previous release, which reads them there.
 */
export async function findOrInsertUser(
  executor: Executor,
  user: Pick<Member, "email" | "firstName" | "lastName" | "createdAt">,
): Promise<string> {
  const key = emailKey(user.email);
  // A no-op on a duplicate, so that two processes may add the same user at once.
  await executor.execute(
    `INSERT INTO users (id, email, email_key, first_name, last_name, created_at) VALUES (?, ?, ?, ?, ?, ?)
      ON DUPLICATE KEY UPDATE email_key = email_key`,
    [newUserId(), user.email, key, user.firstName ?? null, user.lastName ?? null, user.createdAt],
  );
  const [rows] = await executor.execute<RowDataPacket[]>("SELECT id FROM users WHERE email_key = ?", [key]);
  return rows[0]?.id;
}

/** The admin whose membership is the oldest, beside `exceptUserId`. */
export async function findOldestAdminUserId(
  executor: Executor,
  organizationId: string,
  exceptUserId = "",
): Promise<string | undefined> {
  const [rows] = await executor.execute<MemberRow[]>(
    `SELECT user_id FROM memberships WHERE organization_id = ? AND role = 'org:admin' AND user_id <> ?
      ORDER BY created_at, user_id LIMIT 1`,
    [idToBytes(organizationId), exceptUserId],
  );
  return rows[0]?.user_id ?? undefined;
}

function memberFromRow(row: MemberRow): Member[] {
  if (row.user_id === null) return [];
  return [
    {
      userId: row.user_id,
      email: row.email,
      firstName: row.first_name ?? undefined,
      lastName: row.last_name ?? undefined,
      role: row.role,
      createdAt: row.created_at,
    },
  ];
}
