import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { administrator } from "../support/administration-rest.ts";
import { findBrowser } from "../support/browser.ts";
import { type ConsolePage, type ConsoleUnderTest, openConsole } from "../support/console-browser.ts";

const browserPath = await findBrowser();

let underTest: ConsoleUnderTest;

describe.skipIf(!browserPath)("the console with limited permissions", { timeout: 180_000 }, () => {
  beforeAll(async () => {
    underTest = await openConsole(browserPath ?? "");
    for (const temperature of [0.2, 0.7])
      await underTest.stack.create("support-bot", { model: "a", temperature, messages: [] });
  }, 180_000);

  afterAll(() => underTest?.close());

  async function signedIn(permissions: readonly string[]): Promise<ConsolePage> {
    const { key } = await administrator(underTest.stack).makeKey({ permissions });
    return underTest.newPage({ key });
  }

  it("says on every screen what the key cannot read, and offers no action that would fail", async () => {
    const on = await signedIn(["inference"]);
    const { page } = on;
    const preset = "/default/presets/support-bot";
    for (const path of ["/default/presets", preset, `${preset}/try`, `${preset}/compare/1...2`, "/default/activity"]) {
      await on.open(path);
      await page.getByText("Your key does not have the permission presets:read").waitFor();
      await page.getByRole("button", { name: "Sign in with another key" }).waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
      expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
    }
    expect(await on.axeViolations()).toEqual([]);
    expect(await on.faults()).toEqual([]);
  });

  it("links to no form that cannot be sent, and explains it at its URL", async () => {
    const on = await signedIn(["presets:read"]);
    const { page } = on;
    const reason = "Your key does not have the permission presets:write.";
    await page.getByRole("link", { name: "support-bot" }).waitFor();
    await page.keyboard.press("c");
    await page.getByText(reason).last().waitFor();
    expect(page.url()).toMatch(/\/default\/presets$/);
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: "Team" }).waitFor();
    expect(await page.getByRole("option", { name: "New preset" }).count()).toBe(0);
    await page.keyboard.press("Escape");
    for (const path of ["/default/presets/~new", "/default/presets/support-bot/edit?from=2"]) {
      await on.open(path);
      await page.locator(".notice", { hasText: `${reason} What you write here cannot be saved.` }).waitFor();
    }
    expect(await on.faults()).toEqual([]);
  });

  it("asks nobody to create a preset who cannot, and shows the first of a colleague", async () => {
    const { call, makeKey } = administrator(underTest.stack);
    const { json } = await call<{ id: string; name: string }>("POST", "/workspaces", {
      name: "Guests",
      slug: "guests",
    });
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    await on.open("/guests/keys");
    await on.page.getByRole("button", { name: "Create a key" }).click();
    // Whoever hands it out sees where it opens, and that people may use it.
    await on.page.getByText("for people who sign in here: the presets of Guests.").waitFor();
    const made = { workspace_id: json.data.id };
    const guest = await underTest.newPage({ key: (await makeKey({ ...made, permissions: ["presets:read"] })).key });
    await guest.page.getByText("The first preset that a colleague creates appears here by itself.").waitFor();
    expect(await guest.page.getByText("curl").count()).toBe(0);
    expect(await guest.axeViolations()).toEqual([]);
    const { key } = await makeKey(made);
    await underTest.stack.create("for-guests", { model: "a", messages: [] }, { key });
    await guest.page.getByRole("link", { name: "for-guests" }).waitFor();
    expect(await guest.faults()).toEqual([]);
  });

  it("leads from a link into another workspace to a sign-in that follows it", async () => {
    await administrator(underTest.stack).call("POST", "/workspaces", { name: "Elsewhere", slug: "elsewhere" });
    const on = await signedIn(["presets:read"]);
    const { page } = on;
    await on.open("/elsewhere/presets");
    await page.getByRole("heading", { name: "Nothing here" }).waitFor();
    expect(await on.axeViolations()).toEqual([]);
    await page.getByRole("button", { name: "Sign in with another key" }).click();
    await page.getByLabel("Key", { exact: true }).fill(underTest.stack.managementKey);
    await page.keyboard.press("Enter");
    await page.getByText("No presets yet").waitFor();
    expect(page.url()).toMatch(/\/elsewhere\/presets$/);
    expect(await on.faults()).toEqual([]);
  });

  it("distinguishes colleagues whose names the key cannot read, and says why", async () => {
    const { makeMember, makeKey } = administrator(underTest.stack);
    const userId = await makeMember("colleague@example.com");
    const { key } = await makeKey({ creator_user_id: userId });
    await underTest.stack.request("PATCH", "/presets/support-bot", { key, body: { description: "Theirs." } });
    const { page, open } = await signedIn(["presets:read"]);
    await open("/default/presets/support-bot");
    const author = page.getByRole("complementary", { name: "History" }).getByTitle(userId);
    expect(await author.innerText()).toBe(`Colleague ${userId.slice(5, 9)}`);
    expect(await author.getAttribute("title")).toContain("Names of colleagues are shown only with a management key");
  });

  it("calls someone who has left a former member", async () => {
    const { makeMember, makeKey, call } = administrator(underTest.stack);
    const userId = await makeMember("leaver@example.com");
    const { key } = await makeKey({ creator_user_id: userId });
    await underTest.stack.request("PATCH", "/presets/support-bot", { key, body: { description: "From who left." } });
    await call("DELETE", `/organization/members/${userId}?disable_keys=true`);
    const { page, open } = await underTest.newPage({ key: underTest.stack.managementKey });
    await open("/default/presets/support-bot");
    await page
      .getByText(`Former member ${userId.slice(5, 9)}`)
      .first()
      .waitFor();
  });
});
