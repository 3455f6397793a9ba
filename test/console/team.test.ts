import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { administrator } from "../support/administration-rest.ts";
import { findBrowser } from "../support/browser.ts";
import { type ConsolePage, type ConsoleUnderTest, chooseFromMenu, openConsole } from "../support/console-browser.ts";
import { showCrowd } from "../support/crowd.ts";
import { freshName } from "../support/fresh-name.ts";

const browserPath = await findBrowser();

describe.skipIf(!browserPath)("the team screen", { timeout: 180_000 }, () => {
  let underTest: ConsoleUnderTest;
  let on: ConsolePage;

  beforeAll(async () => {
    underTest = await openConsole(browserPath ?? "");
    on = await underTest.newPage({ key: underTest.stack.managementKey });
  }, 180_000);

  afterAll(() => underTest?.close());

  const call = <Data>(method: string, path: string, body?: unknown) =>
    administrator(underTest.stack).call<Data>(method, path, body);

  interface MemberJson {
    readonly id: string;
    readonly email: string;
    readonly first_name: string | null;
    readonly role: string;
  }

  async function memberNow(email: string): Promise<MemberJson | undefined> {
    const { json } = await call<MemberJson[]>("GET", "/organization/members?limit=100");
    return json.data.find((member) => member.email === email);
  }

  async function openTeam(): Promise<void> {
    await on.open("/default/team");
    await on.page.getByRole("heading", { name: "Workspaces" }).waitFor();
    await on.page.locator("table .two-lines").last().waitFor();
  }

  const dialog = () => on.page.getByRole("dialog");
  const menuOf = (name: string) => on.page.getByRole("button", { name: `Actions for ${name}`, exact: true });

  const choose = (name: string, action: string | RegExp) => chooseFromMenu(on.page, `Actions for ${name}`, action);

  it("adds a member, renames them and makes them admin by keyboard alone", async () => {
    const name = freshName("Grace");
    const email = `${name.toLowerCase()}@example.com`;
    await openTeam();
    await on.page.getByRole("button", { name: "Add a member" }).press("Enter");
    await dialog().waitFor();
    await on.page.keyboard.type(email);
    await on.page.keyboard.press("Enter");
    await on.page.getByText(`${email} is a member.`).waitFor();
    expect(await memberNow(email)).toMatchObject({ first_name: null, role: "org:member" });
    await choose(email, "Edit");
    await dialog().getByLabel("First name").fill(name);
    await on.page.keyboard.press("Enter");
    await menuOf(name).waitFor();
    await choose(name, "Make an admin");
    await on.page.getByText(`${name} is an admin now.`).waitFor();
    expect(await memberNow(email)).toMatchObject({ first_name: name, role: "org:admin" });
    await choose(name, "Make a member");
    await on.page.getByText(`${name} is no longer an admin.`).waitFor();
    await choose(name, "Copy the user id");
    await on.page.getByText("Copied the user id.", { exact: true }).last().waitFor();
    expect(await on.page.evaluate("navigator.clipboard.readText()")).toBe((await memberNow(email))?.id);
    expect(await on.faults()).toEqual([]);
  });

  it("adds and removes a member in a second attempt if the answer to the first was lost", async () => {
    // In a tab of its own, because the browser reports a lost answer as an error.
    const { open, page } = await on.newTab();
    const email = `${freshName("lost")}@example.com`;
    const submit = (action: string) => page.getByRole("dialog").getByRole("button", { name: action }).click();
    const submitTwice = async (action: string): Promise<void> => {
      await page.route("**/api/v1/organization/members**", async (route) => {
        if (route.request().method() === "GET") return route.continue();
        await route.fetch();
        await route.abort();
      });
      await submit(action);
      await page.getByRole("dialog").getByText("cannot be reached").waitFor();
      await page.unroute("**/api/v1/organization/members**");
      await submit(action);
    };
    await open("/default/team");
    await page.getByRole("button", { name: "Add a member" }).click();
    await page.getByRole("dialog").getByLabel("E-mail address").fill(email);
    await submitTwice("Add member");
    await page.getByText(`${email} is a member.`).waitFor();
    await chooseFromMenu(page, `Actions for ${email}`, "Remove");
    await submitTwice("Remove the member");
    await page.getByText(`${email} is no longer a member.`).waitFor();
    expect(await memberNow(email)).toBeUndefined();
    await page.close();
  });

  it("reports that someone is already a member", async () => {
    const email = `${freshName("twice")}@example.com`;
    await administrator(underTest.stack).makeMember(email);
    await openTeam();
    await on.page.getByRole("button", { name: "Add a member" }).click();
    await dialog().getByLabel("E-mail address").fill(email);
    await on.page.keyboard.press("Enter");
    await dialog().getByText("is a member of this organization already").waitFor();
    // What was typed is kept.
    expect(await dialog().getByLabel("E-mail address").inputValue()).toBe(email);
  });

  it("does not allow removing the last admin, and says why", async () => {
    await openTeam();
    const { json } = await call<MemberJson[]>("GET", "/organization/members?limit=100");
    const admin = json.data.find(({ role }) => role === "org:admin") as MemberJson;
    await on.page
      .locator("tr", { hasText: admin.email })
      .getByRole("button", { name: /^Actions for/ })
      .press("Enter");
    for (const name of [/^Make a member ?This is the last admin/, /^Remove ?This is the last admin/]) {
      await on.page.getByRole("button", { name }).press("Enter");
    }
    expect(await dialog().count()).toBe(0);
    expect(await memberNow(admin.email)).toMatchObject({ role: "org:admin" });
  });

  it("removes a member with working keys only together with these, naming them first", async () => {
    const email = `${freshName("leaving")}@example.com`;
    const creator_user_id = await administrator(underTest.stack).makeMember(email);
    const { key } = await administrator(underTest.stack).makeKey({ name: "their key", creator_user_id });
    await openTeam();
    await choose(email, "Remove");
    await dialog().getByRole("button", { name: "Remove the member" }).click();
    const refusal = dialog().getByRole("alert");
    await refusal.getByText(`${email} has a key that works.`).waitFor();
    expect(await refusal.innerText()).not.toContain("disable_keys");
    expect(await refusal.getByRole("link", { name: "their key" }).getAttribute("href")).toMatch(/\/default\/keys$/);
    expect(await memberNow(email)).toBeDefined();
    expect(await on.axeViolations()).toEqual([]);
    await dialog()
      .getByLabel(/^Disable their keys, too/)
      .check();
    await dialog().getByRole("button", { name: "Remove the member" }).click();
    await on.page.getByText(`${email} is no longer a member.`).waitFor();
    expect(await memberNow(email)).toBeUndefined();
    expect((await underTest.stack.request("GET", "/presets", { key })).status).toBe(401);
  });

  it("finds members by name and address across pages, and Back returns to the list", async () => {
    const { makeMember } = administrator(underTest.stack);
    const email = `${freshName("eva")}@example.com`;
    // More than a page of older ones, so that she is not among those that are loaded.
    for (let count = 0; count < 51; count++) await makeMember(`${freshName("older")}@example.com`);
    const id = await makeMember(email);
    await call("PATCH", `/organization/members/${id}`, { first_name: "Éva", last_name: "Spärck" });
    await openTeam();
    const { page } = on;
    expect(await page.getByText(email).count()).toBe(0);
    await page.keyboard.press("/");
    for (const q of [email.toUpperCase(), "eva sparck"]) {
      await page.getByRole("searchbox", { name: "Search members" }).fill(q);
      await page.getByText(email).waitFor();
      await expect.poll(() => page.getByRole("button", { name: /^Actions for .*@example/ }).count()).toBe(0);
      await expect.poll(() => new URL(page.url()).searchParams.get("q")).toBe(q);
    }
    await page.getByRole("status").getByText("1 member").waitFor();
    await choose("Éva Spärck", "Make an admin");
    await page.getByText("Éva Spärck is an admin now.").waitFor();
    expect(await memberNow(email)).toMatchObject({ role: "org:admin" });
    await page.getByRole("searchbox").fill("nobody like her");
    await page.getByText("No member matches").waitFor();
    expect(await on.axeViolations()).toEqual([]);
    await page.goBack();
    await page.getByText(email).waitFor();
    await page.goBack();
    await page.getByText(/^1–50 of/).waitFor();
    await on.open("/default/team/default?q=eva+sparck");
    await page.getByText("1–1 of 1").waitFor();
    await page.getByText(email).waitFor();
    // Why nobody can be removed comes before the list, which does not move for it.
    await page.locator("p:has-text('belongs to the default workspace') + .panel").waitFor();
    expect(await on.shifts()).toEqual([]);
    expect(await on.faults()).toEqual([]);
  });

  it("creates a workspace, which can be entered from the switcher at once", async () => {
    const name = freshName("Très Nouveau!");
    const slug = name.replace("Très Nouveau!", "tres-nouveau");
    await openTeam();
    await on.page.getByRole("button", { name: "Create a workspace" }).press("Enter");
    await dialog().waitFor();
    await on.page.keyboard.type(name);
    expect(await dialog().getByLabel("Slug").inputValue()).toBe(slug);
    await on.page.keyboard.press("Enter");
    await on.page.getByText(`“${name}” is ready.`).waitFor();
    await on.page.getByRole("button", { name: /^Workspace:/ }).press("Enter");
    await on.page.getByRole("link", { name }).and(on.page.locator(".menu-item")).press("Enter");
    await on.page.waitForURL(`**/console/${slug}/team`);
    // Tabs of several workspaces can be distinguished.
    await expect.poll(() => on.page.title()).toBe(`Team · ${name} · Setpoint`);
    expect(await on.faults()).toEqual([]);
  });

  it("follows a changed slug of the current workspace, and leaves it when deleted", async () => {
    const { slug: name } = await administrator(underTest.stack).makeWorkspace(freshName("short-lived"));
    const slug = freshName("renamed");
    await on.open(`/${name}/team`);
    await menuOf(name).waitFor();
    await choose(name, "Edit");
    await dialog().getByLabel("Slug").fill(slug);
    await on.page.keyboard.press("Enter");
    await on.page.waitForURL(`**/console/${slug}/team`);
    await on.page.getByText(`“${name}” is changed.`).waitFor();
    expect(await on.page.getByRole("heading", { name: "Team" }).count()).toBe(1);
    await choose(name, "Delete");
    await dialog().getByRole("button", { name: "Delete the workspace" }).press("Enter");
    await on.page.waitForURL(/\/console\/default\/team$/);
    expect((await call("GET", `/workspaces/${slug}`)).status).toBe(404);
    expect(await on.faults()).toEqual([]);
  });

  it("says which keys block a deletion, why the default stays, and that a slug is taken", async () => {
    const { id, slug } = await administrator(underTest.stack).makeWorkspace(freshName("kept"));
    await administrator(underTest.stack).makeKey({ name: "still in use", workspace_id: id });
    await openTeam();
    await choose(slug, "Delete");
    await dialog().getByRole("button", { name: "Delete the workspace" }).click();
    const refusal = dialog().getByRole("alert");
    await refusal.getByText(`${slug} has a key that works. Disable or delete it first:`).waitFor();
    expect(await refusal.getByRole("link", { name: "still in use" }).getAttribute("href")).toMatch(`/${slug}/keys`);
    // People do not know keys by their ids.
    expect(await refusal.locator("ul").innerText()).not.toMatch(/[0-9a-f]{8}-/);
    await on.page.keyboard.press("Escape");
    await on.page
      .locator("tr", { has: on.page.getByText("Default", { exact: true }).and(on.page.locator(".badge")) })
      .getByRole("button", { name: /^Actions for/ })
      .press("Enter");
    await on.page.getByRole("button", { name: /^Delete ?The default workspace cannot be deleted/ }).press("Enter");
    expect(await dialog().count()).toBe(0);
    await on.page.keyboard.press("Escape");
    await choose(slug, "Edit");
    await dialog().getByLabel("Slug").fill("default");
    await on.page.keyboard.press("Enter");
    await dialog().getByText("is taken by another workspace of the organization").waitFor();
    expect(await dialog().getByLabel("Slug").getAttribute("aria-invalid")).toBe("true");
  });

  it("lists members to choose from one per line, however long or many", async () => {
    const { makeMember, makeWorkspace } = administrator(underTest.stack);
    const { slug } = await makeWorkspace(freshName("crowded"));
    for (let index = 0; index < 15; index++)
      await makeMember(`${freshName("l".repeat(60))}@${"l".repeat(60)}.example.com`);
    await on.open(`/default/team/${slug}`);
    await on.page.getByRole("button", { name: "Add members" }).click();
    await dialog().getByRole("checkbox").nth(14).waitFor();
    const overlaps = await dialog()
      .locator(".choice")
      .evaluateAll((rows) =>
        rows.filter((row) => {
          const next = row.nextElementSibling?.getBoundingClientRect();
          const text = row.lastElementChild?.getBoundingClientRect();
          return next && text && text.bottom > next.top + 1;
        }),
      );
    expect(overlaps).toHaveLength(0);
  });

  it("does not offer members who already belong to the workspace", async () => {
    const { makeMember, makeWorkspace } = administrator(underTest.stack);
    const { slug } = await makeWorkspace(freshName("half-full"));
    const [here, outside] = [`here.${slug}@example.com`, `outside.${slug}@example.com`];
    const id = await makeMember(here);
    await makeMember(outside);
    expect((await call("POST", `/workspaces/${slug}/members/add`, { user_ids: [id] })).status).toBe(200);
    await on.open(`/default/team/${slug}`);
    await on.page.getByRole("button", { name: "Add members" }).click();
    await dialog().getByLabel("Find a member").fill(slug);
    await expect.poll(() => dialog().getByRole("checkbox").count()).toBe(2);
    // Those who can be chosen come first.
    expect(await dialog().locator(".choice").allInnerTexts()).toEqual([outside, `${here} already a member`]);
    expect(await dialog().getByRole("checkbox").first().isEnabled()).toBe(true);
    expect(await dialog().getByRole("checkbox").last().isDisabled()).toBe(true);
    expect(await dialog().getByRole("checkbox").last().isChecked()).toBe(true);
    expect(await on.axeViolations()).toEqual([]);
  });

  it("offers all members to a workspace if there are just as many as are listed", async () => {
    const { slug } = await administrator(underTest.stack).makeWorkspace(freshName("of-as-many"));
    const tab = await on.newTab();
    const { page } = tab;
    await showCrowd(page, 1_000);
    await tab.open(`/default/team/${slug}`);
    await page.getByRole("button", { name: "Add members" }).click();
    await page.getByRole("checkbox", { name: "member-999@example.com" }).waitFor();
    expect(await page.getByText("Only the first 1,000").count()).toBe(0);
    await page.getByRole("dialog").getByLabel("Find a member").fill("member-1000@");
    await page.getByRole("status").getByText("Nobody matches.").waitFor();
    await page.close();
  });

  it("says that only the first thousand members are offered to a workspace", async () => {
    const { slug } = await administrator(underTest.stack).makeWorkspace(freshName("of-many"));
    const tab = await on.newTab();
    const find = tab.page.getByRole("dialog").getByLabel("Find a member");
    await showCrowd(tab.page);
    await tab.open(`/default/team/${slug}`);
    await tab.page.getByRole("button", { name: "Add members" }).click();
    await tab.page.getByText("Only the first 1,000 members are offered.").waitFor();
    await find.fill("member-1000@");
    await tab.page.getByRole("status").getByText("None of the first 1,000 members matches.").waitFor();
    await find.fill("member-999@");
    await tab.page.getByRole("checkbox", { name: "member-999@example.com" }).waitFor();
    expect(await tab.axeViolations()).toEqual([]);
    expect(await tab.faults()).toEqual([]);
    await tab.page.close();
  });

  it("says what to do about a workspace without members", async () => {
    const { slug } = await administrator(underTest.stack).makeWorkspace(freshName("deserted"));
    const { json } = await call<{ user_id: string }[]>("GET", `/workspaces/${slug}/members`);
    const user_ids = json.data.map(({ user_id }) => user_id);
    if (user_ids.length > 0) await call("POST", `/workspaces/${slug}/members/remove`, { user_ids });
    await on.open(`/default/team/${slug}`);
    await on.page.getByText("Add those who work on its presets.").waitFor();
    expect(await on.page.getByRole("table").count()).toBe(0);
    expect(await on.page.getByText("0–0 of 0").count()).toBe(0);
  });

  it("says which keys block removing a member from a workspace", async () => {
    const { makeKey, makeMember, makeWorkspace } = administrator(underTest.stack);
    const { id, slug } = await makeWorkspace(freshName("held"));
    const userId = await makeMember(`${slug}@example.com`);
    await call("POST", `/workspaces/${slug}/members/add`, { user_ids: [userId] });
    for (const name of ["first of two", "second of two"])
      await makeKey({ name, workspace_id: id, creator_user_id: userId });
    await on.open(`/default/team/${slug}`);
    await on.page.getByRole("button", { name: `Remove ${slug}@example.com` }).press("Enter");
    const refusal = dialog().getByRole("alert");
    await refusal.getByText(`${slug}@example.com has 2 keys that work. Disable or delete them first:`).waitFor();
    expect(await refusal.getByRole("listitem").allInnerTexts()).toEqual([
      `second of two in ${slug}`,
      `first of two in ${slug}`,
    ]);
    expect(await on.axeViolations()).toEqual([]);
    await on.page.keyboard.press("Escape");
  });

  it("adds members to a workspace, and removes them with undo", async () => {
    const { slug } = await administrator(underTest.stack).makeWorkspace(freshName("joint"));
    const userId = await administrator(underTest.stack).makeMember(`${slug}@example.com`);
    const membersNow = async () => {
      const { json } = await call<{ user_id: string }[]>("GET", `/workspaces/${slug}/members`);
      return json.data.map(({ user_id }) => user_id);
    };
    await on.open(`/default/team/${slug}`);
    await on.page.getByRole("button", { name: "Add members" }).press("Enter");
    await dialog().waitFor();
    await on.page.keyboard.type(slug);
    await dialog().getByRole("checkbox").press("Space");
    await dialog().getByRole("button", { name: "Add 1" }).press("Enter");
    await on.page.getByText(`1 member was added to ${slug}.`).waitFor();
    expect(await membersNow()).toContain(userId);
    await on.page.getByRole("button", { name: `Remove ${slug}@example.com` }).press("Enter");
    await on.page.getByRole("button", { name: "Undo" }).waitFor();
    expect(await membersNow()).not.toContain(userId);
    await on.page.getByRole("button", { name: "Undo" }).press("Enter");
    await expect.poll(membersNow).toContain(userId);
    expect(await on.axeViolations()).toEqual([]);
    expect(await on.faults()).toEqual([]);
  });
});
