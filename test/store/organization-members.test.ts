import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MemberRole } from "../../services/organization/domain/members.ts";
import {
  findMember,
  findMemberByEmail,
  findOldestAdminUserId,
  findOrInsertUser,
  insertMembership,
  listMembers,
} from "../../services/organization/store/members.ts";
import { insertOrganization } from "../../services/organization/store/organizations.ts";
import { newId } from "../../services/platform/domain/ids.ts";
import { type Executor, openPool, type Pool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { inTransaction } from "../../services/platform/mysql/transaction.ts";
import type { TestDatabase } from "../support/database.ts";
import { createOrganizationDatabase } from "../support/organization-database.ts";

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createOrganizationDatabase();
  pool = openPool(database.url, 8);
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

async function newOrganization(): Promise<string> {
  const id = newId();
  await insertOrganization(pool, { id, name: `Organization ${id}`, defaultWorkspaceId: newId() }, new Date());
  return id;
}

function addMember(organizationId: string, email: string, createdAt: Date, role: MemberRole = "org:member") {
  return inTransaction(pool, async (connection) => {
    const user = { email, firstName: undefined, lastName: undefined, createdAt };
    const userId = await findOrInsertUser(connection, user);
    const isNew = await insertMembership(connection, organizationId, { ...user, userId, role });
    return { userId, isNew };
  });
}

describe("users", () => {
  const createdAt = new Date("2026-01-01T00:00:00.123Z");

  it("are one per address in any casing, and share no names between organizations", async () => {
    const userId = await findOrInsertUser(pool, {
      email: "Ada@example.com",
      firstName: "Ada",
      lastName: "L",
      createdAt,
    });
    const second = await findOrInsertUser(pool, { email: "ada@EXAMPLE.com", firstName: "X", lastName: "Y", createdAt });
    expect(second).toBe(userId);
    const [users] = await pool.query("SELECT email, first_name, last_name FROM users WHERE id = ?", [userId]);
    expect(users).toEqual([{ email: "Ada@example.com", first_name: "Ada", last_name: "L" }]);
    const organizationId = await newOrganization();
    await addMember(organizationId, "ADA@example.com", createdAt);
    const names = { email: "ADA@example.com", firstName: undefined, lastName: undefined };
    const member = { userId, ...names, role: "org:member", createdAt };
    expect((await listMembers(pool, organizationId, { offset: 0, limit: 1 }))?.members).toEqual([member]);
    await addMember(organizationId, "second@example.com", new Date("2025-01-01T00:00:00.000Z"));
    expect((await listMembers(pool, organizationId, { offset: 1, limit: 1 }))?.members).toEqual([member]);
  });

  it("are distinguished by accents", async () => {
    const names = { firstName: undefined, lastName: undefined, createdAt };
    const plain = await findOrInsertUser(pool, { email: "rene@example.com", ...names });
    const accented = await findOrInsertUser(pool, { email: "rené@example.com", ...names });
    expect(accented).not.toBe(plain);
  });

  it("are created once if the same address is added simultaneously", async () => {
    const user = { email: "crowd@example.com", firstName: undefined, lastName: undefined, createdAt };
    const users = await Promise.all(Array.from({ length: 20 }, () => findOrInsertUser(pool, user)));
    expect(new Set(users).size).toBe(1);
  });
});

describe("members", () => {
  it("are counted exactly under simultaneous additions, some of them duplicates", async () => {
    const organizationId = await newOrganization();
    const emails = Array.from({ length: 40 }, (_, index) => `member-${index % 25}@example.com`);
    const added = await Promise.all(emails.map((email) => addMember(organizationId, email, new Date())));
    expect(added.filter(({ isNew }) => isNew)).toHaveLength(25);
    const page = await listMembers(pool, organizationId, { offset: 0, limit: 100 });
    expect(page?.members).toHaveLength(25);
    expect(page?.totalCount).toBe(25);
  });

  it("are listed oldest first, then by id", async () => {
    const organizationId = await newOrganization();
    const late = await addMember(organizationId, "late@example.com", new Date(2_000));
    const twins = await Promise.all(
      ["a", "b", "c", "d"].map((email) => addMember(organizationId, `${email}@example.com`, new Date(1_500))),
    );
    const early = await addMember(organizationId, "early@example.com", new Date(1_000));
    const expected = [early.userId, ...twins.map(({ userId }) => userId).sort(), late.userId];
    const page = await listMembers(pool, organizationId, { offset: 0, limit: 100 });
    expect(page?.members.map(({ userId }) => userId)).toEqual(expected);
  });

  it("are read by index for the first page, whatever the statistics say", async () => {
    const organizationId = await newOrganization();
    await addMember(organizationId, "first@example.com", new Date());
    const plans: RowDataPacket[][] = [];
    const explaining = {
      execute: async (sql: string, values: unknown[]) => {
        const [plan] = await pool.query<RowDataPacket[]>(`EXPLAIN FORMAT=TRADITIONAL ${sql}`, values);
        plans.push(plan);
        return pool.execute(sql, values as never);
      },
    } as unknown as Executor;
    await listMembers(explaining, organizationId, { offset: 0, limit: 100 });
    expect(plans).toHaveLength(1);
    expect(plans[0]?.map(({ table, type }) => `${table} ${type}`)).toEqual(["o const", "m ref", "users eq_ref"]);
    for (const { Extra } of plans[0] ?? []) expect(Extra ?? "").not.toMatch(/temporary|filesort/);
  });

  it("have the address of their user if an older release added them", async () => {
    const organizationId = await newOrganization();
    const { userId } = await addMember(organizationId, "older@example.com", new Date(1_000));
    await addMember(organizationId, "newer@example.com", new Date(2_000));
    await pool.execute("UPDATE memberships SET email = NULL WHERE user_id = ?", [userId]);
    const older = { userId, email: "older@example.com" };
    expect((await listMembers(pool, organizationId, { offset: 0, limit: 1 }))?.members).toMatchObject([older]);
    const second = await listMembers(pool, organizationId, { offset: 1, limit: 1 });
    expect(second?.members).toMatchObject([{ email: "newer@example.com" }]);
    expect(await findMember(pool, organizationId, userId)).toMatchObject(older);
    expect(await findMemberByEmail(pool, organizationId, "older@example.com")).toMatchObject(older);
  });

  it("are listed only in their own organization", async () => {
    const [one, other] = [await newOrganization(), await newOrganization()];
    await addMember(one, "shared@example.com", new Date());
    await addMember(other, "shared@example.com", new Date());
    await addMember(other, "lonely@example.com", new Date());
    expect((await listMembers(pool, one, { offset: 0, limit: 100 }))?.totalCount).toBe(1);
    expect((await listMembers(pool, other, { offset: 0, limit: 100 }))?.totalCount).toBe(2);
  });

  it("are undefined for a missing organization", async () => {
    expect(await listMembers(pool, newId(), { offset: 0, limit: 100 })).toBeUndefined();
  });

  it("are an empty list for an organization without members", async () => {
    expect(await listMembers(pool, await newOrganization(), { offset: 0, limit: 1 })).toEqual({
      members: [],
      totalCount: 0,
    });
  });

  it("include an oldest admin", async () => {
    const organizationId = await newOrganization();
    expect(await findOldestAdminUserId(pool, organizationId)).toBeUndefined();
    await addMember(organizationId, "member@example.com", new Date(1_000));
    await addMember(organizationId, "younger@example.com", new Date(3_000), "org:admin");
    const { userId } = await addMember(organizationId, "older@example.com", new Date(2_000), "org:admin");
    expect(await findOldestAdminUserId(pool, organizationId)).toBe(userId);
  });
});
