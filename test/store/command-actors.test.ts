import { afterAll, beforeAll, expect, it } from "vitest";
import { addMember } from "../../services/organization/commands/add-member.ts";
import { createKey } from "../../services/organization/commands/create-key.ts";
import { createWorkspace } from "../../services/organization/commands/create-workspace.ts";
import { disableKey } from "../../services/organization/commands/disable-key.ts";
import { enableKey } from "../../services/organization/commands/enable-key.ts";
import { removeMember } from "../../services/organization/commands/remove-member.ts";
import { revokeKey } from "../../services/organization/commands/revoke-key.ts";
import { listChanges } from "../../services/organization/store/list-changes.ts";
import { findMemberByEmail } from "../../services/organization/store/members.ts";
import { type Bootstrapped, openCommands, type TestCommands } from "../support/organization-commands.ts";

let commands: TestCommands;
let made: Bootstrapped;
const organization = ["--organization", "Demo"] as const;
const asGrace = ["--as", "Grace@example.com"] as const;

beforeAll(async () => {
  commands = await openCommands();
  made = await commands.makeOrganization("Demo");
  await commands.run(addMember, ...organization, "--email", "grace@example.com");
});

afterAll(() => commands.close());

async function logged() {
  const everything = { action: undefined, userId: undefined, targetId: undefined };
  return (await listChanges(commands.pool, made.organization_id, everything, { offset: 0, limit: 100 })).changes;
}

it("logs every change of a command under the member named by --as", async () => {
  const before = (await logged()).length;
  const key = ["--name", "By Grace", "--kind", "api", "--json"];
  const { key_id: id } = JSON.parse(await commands.run(createKey, ...organization, ...key, ...asGrace));
  await commands.run(disableKey, "--key-id", id, ...asGrace);
  await commands.run(enableKey, "--key-id", id, ...asGrace);
  await commands.run(revokeKey, "--key-id", id, ...asGrace);
  await commands.run(createWorkspace, ...organization, "--name", "Staging", ...asGrace);
  await commands.run(addMember, ...organization, "--email", "alan@example.com", ...asGrace);
  await commands.run(removeMember, ...organization, "--email", "alan@example.com", ...asGrace);
  const grace = await findMemberByEmail(commands.pool, made.organization_id, "grace@example.com");
  const changes = (await logged()).slice(0, -before);
  expect(changes).toHaveLength(7);
  for (const { actor } of changes) expect(actor).toEqual({ userId: grace?.userId, keyId: undefined });
  const creation = changes.find(({ action }) => action === "key_created");
  expect(creation?.fields).toContainEqual({ field: "creator_user_id", from: null, to: grace?.userId });
});

it("rejects --as for someone who is not a member, and changes nothing", async () => {
  const before = await logged();
  const stranger = ["--as", "eve@example.com"];
  const refused = commands.run(createWorkspace, ...organization, "--name", "Refused", ...stranger);
  await expect(refused).rejects.toThrow("--as eve@example.com: no member of the organization");
  expect(await logged()).toEqual(before);
});
