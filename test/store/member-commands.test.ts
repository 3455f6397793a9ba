import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addMember } from "../../services/organization/commands/add-member.ts";
import { listMembers } from "../../services/organization/commands/list-members.ts";
import { removeMember } from "../../services/organization/commands/remove-member.ts";
import { newManagementKey } from "../../services/organization/domain/keys.ts";
import { insertKey } from "../../services/organization/store/keys.ts";
import { listKeys } from "../../services/organization/store/list-keys.ts";
import { listMembers as listStoredMembers } from "../../services/organization/store/members.ts";
import { idToBytes } from "../../services/platform/domain/ids.ts";
import { CommandError } from "../../services/platform/process/command-error.ts";
import { freshName } from "../support/fresh-name.ts";
import { openCommands, rowsOf, type TestCommands } from "../support/organization-commands.ts";
import { isoTime } from "../support/patterns.ts";

let commands: TestCommands;

beforeAll(async () => {
  commands = await openCommands();
});

afterAll(() => commands.close());

const add = (organization: string, email: string, ...others: string[]) =>
  commands.run(addMember, "--organization", organization, "--email", email, ...others);
const remove = (organization: string, email: string, ...others: string[]) =>
  commands.run(removeMember, "--organization", organization, "--email", email, ...others);
const emailsOf = async (organization: string) => (await list(organization)).map(({ email }) => email);

/** By address, because memberships may start in the same millisecond. */
async function list(organization: string) {
  const rows = rowsOf(await commands.run(listMembers, "--organization", organization));
  return rows.toSorted((a, b) => `${a.email}`.localeCompare(`${b.email}`));
}

/** The organization's member count, which a page of members shows. */
async function memberCount(organizationId: string): Promise<number | undefined> {
  return (await listStoredMembers(commands.pool, organizationId, { offset: 0, limit: 1 }))?.totalCount;
}

describe("add-member and list-members", () => {
  beforeAll(() => commands.makeOrganization("Refusing"));

  it("creates the user and the membership, and lists them", async () => {
    const name = freshName("With members");
    const { organization_id: organizationId, admin_user_id: adminId } = await commands.makeOrganization(name);
    const printed = await add(name, "alan@example.com", "--first-name", "Alan", "--last-name", "Turing");
    await add(name, "b@example.com", "--role", "org:admin");
    expect(printed).toMatch(/^alan@example\.com \(user_[A-Za-z0-9]{27}\) is now org:member of "With members-\d+"$/);
    const created = expect.stringMatching(isoTime);
    const id = expect.stringMatching(/^user_[A-Za-z0-9]{27}$/);
    const unnamed = { first_name: "-", last_name: "-", created };
    expect(await list(name)).toEqual([
      { id: adminId, email: "ada@example.com", role: "org:admin", ...unnamed },
      { id, email: "alan@example.com", first_name: "Alan", last_name: "Turing", role: "org:member", created },
      { id, email: "b@example.com", role: "org:admin", ...unnamed },
    ]);
    expect(await memberCount(organizationId)).toBe(3);
  });

  it("lists more members than one page of the API", async () => {
    const name = freshName("Crowded");
    await commands.makeOrganization(name);
    for (let index = 0; index < 100; index += 1) await add(name, `member-${index}@example.com`);
    expect(await list(name)).toHaveLength(101);
  });

  it.each([
    ["an existing member", "Refusing", "ADA@example.com", [], /is a member of this organization already/],
    ["an unknown organization", "Nowhere", "ada@example.com", [], /no organization "Nowhere"/],
    ["an unknown role", "Refusing", "a@b", ["--role", "boss"], /--role must be one of/],
    ["an invalid address", "Refusing", "ada", [], /--email must be/],
  ])("rejects %s", async (_name, organization, email, others, message) => {
    const refused = add(organization, email, ...others);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toThrow(CommandError);
  });
});

describe("remove-member", () => {
  beforeAll(async () => {
    await commands.makeOrganization("Guarded");
    await commands.makeOrganization("Elsewhere", "elsewhere@example.com");
  });

  /** Working keys would prevent the removal of their creator. */
  const stopKeys = (organizationId: string) =>
    commands.pool.execute("UPDATE api_keys SET disabled = TRUE WHERE organization_id = ?", [idToBytes(organizationId)]);

  it("ends one membership and updates the count, in any casing of the address", async () => {
    const other = freshName("Staying");
    const name = freshName("Shrinking");
    const { organization_id: organizationId } = await commands.makeOrganization(name);
    const { organization_id: otherId } = await commands.makeOrganization(other);
    for (const organization of [name, other]) await add(organization, "Joan@example.com");
    expect(await remove(name, "joan@EXAMPLE.com")).toMatch(
      /^Joan@example\.com \(user_\w+\) is no longer a member of "Shrinking-\d+"$/,
    );
    expect(await emailsOf(name)).toEqual(["ada@example.com"]);
    expect([await memberCount(organizationId), await memberCount(otherId)]).toEqual([1, 2]);
  });

  it("allows someone to return as the same user with another role", async () => {
    const name = freshName("Returning");
    await commands.makeOrganization(name);
    await add(name, "grace@example.com");
    const before = (await list(name))[1];
    await remove(name, "grace@example.com");
    await add(name, "grace@example.com", "--role", "org:admin");
    expect((await list(name))[1]).toMatchObject({ id: before?.id, role: "org:admin" });
  });

  it("keeps the last admin until there is another", async () => {
    const name = freshName("Led");
    const { organization_id: organizationId } = await commands.makeOrganization(name);
    await stopKeys(organizationId);
    await add(name, "grace@example.com");
    const refused = remove(name, "ada@example.com");
    await expect(refused).rejects.toThrow(CommandError);
    await expect(refused).rejects.toThrow(
      "This member is the last admin of the organization. Make someone else an admin first.",
    );
    expect(await emailsOf(name)).toEqual(["ada@example.com", "grace@example.com"]);
    expect(await memberCount(organizationId)).toBe(2);
    await add(name, "alan@example.com", "--role", "org:admin");
    await remove(name, "ada@example.com");
    expect(await emailsOf(name)).toEqual(["alan@example.com", "grace@example.com"]);
  });

  it("keeps one admin if all are removed at once", async () => {
    const name = freshName("Mutiny");
    const { organization_id: organizationId } = await commands.makeOrganization(name);
    await stopKeys(organizationId);
    const admins = ["ada@example.com", "b@example.com", "c@example.com", "d@example.com"];
    for (const email of admins.slice(1)) await add(name, email, "--role", "org:admin");
    const results = await Promise.allSettled(admins.map((email) => remove(name, email)));
    const refused = results.filter((result) => result.status === "rejected");
    expect(refused.map(({ reason }) => reason)).toEqual([expect.any(CommandError)]);
    expect(await list(name)).toHaveLength(1);
    expect(await memberCount(organizationId)).toBe(1);
  });

  it("keeps the count right under simultaneous additions and removals", async () => {
    const name = freshName("Restless");
    const { organization_id: organizationId } = await commands.makeOrganization(name);
    const changes = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? add : remove));
    const results = await Promise.allSettled(changes.map((change) => change(name, "grace@example.com")));
    const refusals = results.filter((result) => result.status === "rejected").map(({ reason }) => reason);
    expect(refusals.filter((reason) => !(reason instanceof CommandError))).toEqual([]);
    expect(refusals.length).toBeLessThan(results.length);
    expect(await memberCount(organizationId)).toBe((await list(name)).length);
  });

  it("fails while the member has working keys, unless these are disabled too", async () => {
    const name = freshName("Keyed");
    const { admin_user_id: userId, organization_id: organizationId } = await commands.makeOrganization(name);
    await add(name, "alan@example.com", "--role", "org:admin");
    const refused = remove(name, "ada@example.com");
    await expect(refused).rejects.toThrow(CommandError);
    await expect(refused).rejects.toThrow(/still work: "First API key" \(\S+\), "First management key" \(\S+\)\./);
    await expect(refused).rejects.toThrow("or have them disabled with it (--disable-keys).");
    expect(await emailsOf(name)).toEqual(["ada@example.com", "alan@example.com"]);

    // The last management key of the organization keeps working, so that it can be administered.
    await expect(remove(name, "ada@example.com", "--disable-keys")).rejects.toThrow(
      /last working management key, .* First create one for another member \(create-key --as\)/,
    );
    const keys = await listKeys(commands.pool, organizationId);
    expect(keys.map(({ disabled }) => disabled)).toEqual([false, false]);
    const { key } = newManagementKey({
      name: "Another",
      organizationId,
      creatorUserId: "user_x",
      expiresAt: undefined,
    });
    await insertKey(commands.pool, key);
    expect((await remove(name, "ada@example.com", "--disable-keys")).split("\n")[1]).toBe(
      "Keys of theirs that were disabled: 2",
    );
    const after = await listKeys(commands.pool, organizationId);
    expect(after.map(({ creatorUserId, disabled }) => [creatorUserId, disabled])).toEqual([
      [userId, true],
      [userId, true],
      ["user_x", false],
    ]);
  });

  it.each([
    ["who is not a member", "Guarded", "stranger@example.com", /stranger@\S+ is no member of "Guarded"; list-members/],
    ["who is a member elsewhere", "Guarded", "elsewhere@example.com", /is no member of "Guarded"/],
    ["of an unknown organization", "Nowhere", "ada@example.com", /no organization "Nowhere"/],
  ])("rejects someone %s", async (_name, organization, email, message) => {
    const refused = remove(organization, email);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toThrow(CommandError);
  });
});
