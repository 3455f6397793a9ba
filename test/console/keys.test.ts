import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { administrator, type KeyJson } from "../support/administration-rest.ts";
import { findBrowser } from "../support/browser.ts";
import { type ConsolePage, type ConsoleUnderTest, chooseFromMenu, openConsole } from "../support/console-browser.ts";
import { showCrowd } from "../support/crowd.ts";
import { freshName } from "../support/fresh-name.ts";

const browserPath = await findBrowser();

describe.skipIf(!browserPath)("the keys screen", { timeout: 180_000 }, () => {
  let underTest: ConsoleUnderTest;
  let on: ConsolePage;
  let own: KeyJson;

  beforeAll(async () => {
    underTest = await openConsole(browserPath ?? "");
    on = await underTest.newPage({ key: underTest.stack.managementKey });
    own = (await keysNow()).find(({ kind }) => kind === "management") as KeyJson;
  }, 180_000);

  afterAll(() => underTest?.close());

  async function keysNow(): Promise<readonly KeyJson[]> {
    return (await administrator(underTest.stack).call<KeyJson[]>("GET", "/keys?include_disabled=true")).json.data;
  }

  async function keyNow(name: string): Promise<KeyJson | undefined> {
    return (await keysNow()).find((key) => key.name === name);
  }

  async function statusWith(key: string): Promise<number> {
    return (await underTest.stack.request("GET", "/presets", { key })).status;
  }

  async function openKeys(here: ConsolePage): Promise<void> {
    await here.open("/default/keys");
    await here.page.locator(".keys-table .two-lines").first().waitFor();
  }

  const choose = (name: string, action: RegExp) => chooseFromMenu(on.page, `Actions for ${name}`, action);

  const row = (name: string) => on.page.getByRole("row").filter({ hasText: name });

  const dialog = () => on.page.getByRole("dialog");

  it("creates a key by keyboard alone, and closes the secret only after confirmation", async () => {
    const { page } = on;
    await on.open("/default/activity");
    await page.getByRole("link", { name: "Keys", exact: true }).press("Enter");
    await page.getByRole("button", { name: "Create a key" }).press("Enter");
    await dialog().waitFor();
    const name = freshName("by keyboard");
    await page.keyboard.type(name);
    await page.getByLabel("presets:write").press("Space");
    await page.keyboard.press("Enter");
    const sample = dialog().locator(".secret code");
    await sample.waitFor();
    const secret = await sample.innerText();
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press("Escape");
    await page.goBack();
    expect(await sample.innerText()).toBe(secret);
    await page.getByRole("button", { name: "Copy the key" }).press("Enter");
    await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe(secret);
    await page.getByRole("button", { name: "Done" }).press("Enter");
    expect(await sample.isVisible()).toBe(true);
    await page.getByLabel("I stored it").press("Space");
    await page.getByRole("button", { name: "Done" }).press("Enter");
    await dialog().waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(secret);
    expect(await statusWith(secret)).toBe(200);
    expect(await keyNow(name)).toMatchObject({ kind: "api", permissions: ["presets:read", "inference"] });
    expect(await on.faults()).toEqual([]);
  });

  it("creates one key if the answer was lost, and a retry says what became of the first", async () => {
    const { page } = on;
    const name = freshName("answered late");
    await openKeys(on);
    await page.getByRole("button", { name: "Create a key" }).click();
    await dialog().getByLabel("Name", { exact: true }).fill(name);
    await dialog().getByLabel("Expires").selectOption("In 30 days");
    await page.route("**/api/v1/keys", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      await route.fetch();
      await route.abort();
    });
    await dialog().getByRole("button", { name: "Create" }).click();
    await dialog().getByText("cannot be reached").waitFor();
    await page.unroute("**/api/v1/keys");
    await dialog().getByRole("button", { name: "Create" }).click();
    await dialog().getByText(`An earlier attempt made “${name}”`).waitFor();
    await dialog().getByText("rotate it to get a new secret").waitFor();
    expect((await keysNow()).filter((each) => each.name === name)).toHaveLength(1);
    await page.keyboard.press("Escape");
  });

  it("creates a key for a colleague, under whose name it works and with whom it ends", async () => {
    const { makeMember, call } = administrator(underTest.stack);
    const colleague = await makeMember("kay@example.com");
    await call("PATCH", `/organization/members/${colleague}`, { first_name: "Kay", last_name: "McNulty" });
    const { page } = on;
    const name = freshName("of a colleague");
    await openKeys(on);
    await page.getByRole("button", { name: "Create a key" }).click();
    await dialog().getByLabel("Name", { exact: true }).fill(name);
    const whose = dialog().getByLabel("For", { exact: true });
    expect(await whose.inputValue()).toBe(own.creator_user_id);
    await whose.selectOption({ label: "Kay McNulty (kay@example.com)" });
    await dialog().getByRole("button", { name: "Create" }).click();
    const secret = await dialog().locator(".secret code").innerText();
    await dialog().getByLabel("I stored it").check();
    await dialog().getByRole("button", { name: "Done" }).click();
    await page.locator(".keys-table tr", { hasText: name }).locator(".column-creator", { hasText: "Kay" }).waitFor();
    expect(await keyNow(name)).toMatchObject({ creator_user_id: colleague });
    await call("DELETE", `/organization/members/${colleague}?disable_keys=true`);
    expect(await statusWith(secret)).toBe(401);
  });

  it("offers all members as owners of a key if there are just as many as are listed", async () => {
    const tab = await on.newTab();
    const { page } = tab;
    await showCrowd(page, 1_000);
    await openKeys(tab);
    await page.getByRole("button", { name: "Create a key" }).click();
    await page.getByRole("option", { name: "member-999@example.com" }).waitFor({ state: "attached" });
    expect(await page.getByText("Only the first 1,000").count()).toBe(0);
    expect(await page.getByRole("option", { name: "Somebody else" }).count()).toBe(0);
    await page.close();
  });

  it("creates a key for a colleague by their id, if there are more members than are listed", async () => {
    const colleague = await administrator(underTest.stack).makeMember(`${freshName("late")}@example.com`);
    const tab = await on.newTab();
    const { page } = tab;
    const name = freshName("of one of many");
    await showCrowd(page);
    await openKeys(tab);
    await page.getByRole("button", { name: "Create a key" }).click();
    await page.getByLabel("Name", { exact: true }).fill(name);
    await page.getByText("Only the first 1,000 members are offered.").waitFor();
    await page.getByLabel("For", { exact: true }).selectOption("Somebody else, by user id");
    const userId = page.getByLabel("User id", { exact: true });
    // Without one, the key would be one's own.
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await expect.poll(() => userId.evaluate((field) => field.matches(":focus:invalid"))).toBe(true);
    await userId.fill("user_of_nobody");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.locator("[aria-invalid]").and(userId).waitFor();
    expect(await tab.axeViolations()).toEqual([]);
    await userId.fill(` ${colleague} `);
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("dialog").locator(".secret code").waitFor();
    expect(await keyNow(name)).toMatchObject({ creator_user_id: colleague });
    expect(await tab.faults()).toEqual([]);
    await page.close();
  });

  it("returns the focus when a dialog or toast closes, or keeps it in the page", async () => {
    const { page } = on;
    const name = freshName("focused");
    const focused = () =>
      page.evaluate("document.activeElement.ariaLabel || document.activeElement.textContent.trim()");
    await openKeys(on);
    await page.getByRole("button", { name: "Create a key" }).press("Enter");
    await dialog().waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(focused).toBe("Create a key");
    await page.getByRole("button", { name: "Create a key" }).press("Enter");
    await dialog().getByLabel("Name", { exact: true }).fill(name);
    await page.keyboard.press("Enter");
    await page.getByLabel("I stored it").check();
    await dialog().getByRole("button", { name: "Done" }).press("Enter");
    await expect.poll(focused).toBe("Keys");
    await chooseFromMenu(page, `Actions for ${name}`, "Edit");
    await dialog().waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(focused).toBe(`Actions for ${name}`);
    await chooseFromMenu(page, `Actions for ${name}`, "Disable");
    await page.getByRole("button", { name: "Enable again" }).press("Enter");
    await page.getByText(`“${name}” is enabled.`).waitFor();
    await expect.poll(focused).toBe(`Actions for ${name}`);
    await page.getByRole("button", { name: "Dismiss" }).last().press("Enter");
    await expect.poll(focused).toBe(`Actions for ${name}`);
    await chooseFromMenu(page, `Actions for ${name}`, "Delete");
    await dialog().getByRole("button", { name: "Delete the key" }).press("Enter");
    await page.getByRole("button", { name: `Actions for ${name}` }).waitFor({ state: "detached" });
    await expect.poll(focused).toBe("Keys");
  });

  it("disables a key in one click and enables it again from the toast", async () => {
    const name = freshName("on and off");
    const { key } = await administrator(underTest.stack).makeKey({ name });
    await openKeys(on);
    await choose(name, /^Disable/);
    await on.page.getByText(`“${name}” is disabled.`).waitFor();
    expect(await statusWith(key)).toBe(401);
    await on.page.getByRole("button", { name: "Enable again" }).click();
    await on.page.getByText(`“${name}” is enabled.`).waitFor();
    expect(await statusWith(key)).toBe(200);
  });

  it("asks before deleting a key", async () => {
    const name = freshName("to be deleted");
    const { key } = await administrator(underTest.stack).makeKey({ name });
    await openKeys(on);
    await choose(name, /^Delete/);
    await on.page.keyboard.press("Escape");
    expect(await statusWith(key)).toBe(200);
    await choose(name, /^Delete/);
    await dialog().getByRole("button", { name: "Delete the key" }).click();
    await on.page.getByText(`“${name}” is deleted.`).waitFor();
    expect(await keyNow(name)).toBeUndefined();
  });

  it("no longer offers to enable a key that was deleted after it was disabled", async () => {
    const name = freshName("disabled first");
    await administrator(underTest.stack).makeKey({ name });
    await openKeys(on);
    await choose(name, /^Disable/);
    await on.page.getByRole("button", { name: "Enable again" }).waitFor();
    await choose(name, /^Delete/);
    await dialog().getByRole("button", { name: "Delete the key" }).click();
    await on.page.getByText(`“${name}” is deleted.`).waitFor();
    expect(await on.page.getByRole("button", { name: "Enable again" }).count()).toBe(0);
  });

  it("rotates a key, and the old secret works for the chosen grace period", async () => {
    const name = freshName("to be rotated");
    const { key } = await administrator(underTest.stack).makeKey({ name });
    await openKeys(on);
    for (const [grace, status, ending] of [
      ["1 day", 200, 1],
      ["It stops at once", 401, 0],
    ] as const) {
      await choose(name, /^Rotate/);
      await dialog().getByLabel("How long the old secret").waitFor();
      // Whoever rotates a key twice is told that the secret before the current one ends, too.
      expect(await dialog().getByText("Rotating ends it at once").count()).toBe(1 - ending);
      await dialog().getByLabel("How long the old secret").selectOption(grace);
      await dialog().getByRole("button", { name: "Make a new secret" }).click();
      const secret = await dialog().locator(".secret code").innerText();
      expect([await statusWith(secret), await statusWith(key)]).toEqual([200, status]);
      await dialog().getByLabel("I stored it").check();
      await dialog().getByRole("button", { name: "Done" }).click();
      await expect.poll(() => row(name).getByText("Old secret ends").count()).toBe(ending);
    }
  });

  it("does not advise to end the secret in use if the new one was lost", async () => {
    const { page } = on;
    const name = freshName("rotated in vain");
    const { key } = await administrator(underTest.stack).makeKey({ name });
    await openKeys(on);
    for (const [grace, advice, status] of [
      ["1 day", "Do not rotate it again", 200],
      ["It stops at once", "rotate the key again", 401],
    ] as const) {
      await choose(name, /^Rotate/);
      await dialog().getByLabel("How long the old secret").selectOption(grace);
      await page.route("**/rotate", async (route) => {
        await route.fetch();
        await route.abort();
      });
      await dialog().getByRole("button", { name: "Make a new secret" }).click();
      await dialog().getByText("cannot be reached").waitFor();
      await page.unroute("**/rotate");
      await dialog().getByRole("button", { name: "Make a new secret" }).click();
      await dialog().getByText(advice).waitFor();
      expect(await statusWith(key)).toBe(status);
      await page.keyboard.press("Escape");
    }
  });

  it("changes name, expiry and permissions, and shows API errors at their fields", async () => {
    const before = freshName("to be changed");
    const after = freshName("changed");
    await administrator(underTest.stack).makeKey({ name: before });
    await openKeys(on);
    await choose(before, /^Edit/);
    for (const box of await dialog().getByRole("checkbox").all()) await box.uncheck();
    await dialog().getByRole("button", { name: "Save" }).click();
    await dialog().locator("fieldset .fault").waitFor();
    await dialog().getByLabel("presets:read").check();
    await dialog().getByLabel("Name", { exact: true }).fill(after);
    await dialog().getByLabel("Expires").selectOption("In 7 days");
    await dialog().getByRole("button", { name: "Save" }).click();
    await on.page.getByText(`“${after}” is changed.`).waitFor();
    const changed = await keyNow(after);
    expect(changed?.permissions).toEqual(["presets:read"]);
    expect(Date.parse(changed?.expires_at ?? "")).toBeGreaterThan(Date.now());
  });

  it("does not allow ending the last management key, and says why", async () => {
    await openKeys(on);
    await on.page.getByRole("button", { name: `Actions for ${own.name}` }).click();
    for (const name of [/^Disable ?No other management key/, /^Delete ?No other management key/]) {
      await on.page.getByRole("button", { name }).focus();
      await on.page.keyboard.press("Enter");
    }
    expect(await dialog().count()).toBe(0);
    expect(await keyNow(own.name)).toMatchObject({ disabled: false });
  });

  it("keeps showing a new secret even if the rotation ended the session", async () => {
    const name = freshName("second manager");
    const { key } = await administrator(underTest.stack).makeKey({ name, kind: "management" });
    const other = await underTest.newPage({ key });
    await openKeys(other);
    await other.page.getByRole("button", { name: `Actions for ${name}`, exact: true }).click();
    await other.page.getByRole("button", { name: /^Rotate/ }).click();
    await other.page.getByLabel("How long the old secret").selectOption("It stops at once");
    await other.page.getByRole("button", { name: "Make a new secret" }).click();
    await other.page.getByRole("heading", { name: "Sign in", includeHidden: true }).waitFor();
    const secret = await other.page.getByRole("dialog").locator(".secret code").innerText();
    expect(await statusWith(secret)).toBe(200);
    await other.context.close();
  });

  it("shows an API key no keys, and says why", async () => {
    const other = await underTest.newPage({ key: underTest.stack.apiKey });
    await other.open("/default/keys");
    const create = other.page.getByRole("button", { name: "Create a key" });
    await create.press("Enter");
    expect(await other.page.getByRole("dialog").count()).toBe(0);
    const reason = await create.evaluate((button) => {
      const page = button.ownerDocument as unknown as { getElementById(id: string): { textContent: string } };
      return page.getElementById(button.getAttribute("aria-describedby") ?? "").textContent;
    });
    expect(reason).toContain("This needs a management key");
    await other.context.close();
  });

  it.each([
    ["light", 1280],
    ["dark", 320],
  ] as const)("passes WCAG checks with a long name and an open menu, %s, %i px wide", async (colorScheme, width) => {
    await administrator(underTest.stack).makeKey({ name: "A name that is as long as a name may be ".repeat(6).trim() });
    const other = await underTest.newPage({ key: underTest.stack.managementKey, colorScheme, width });
    await openKeys(other);
    expect(await other.page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    expect(await other.shifts()).toEqual([]);
    await other.page.getByRole("button", { name: `Actions for ${own.name}` }).click();
    expect(await other.axeViolations()).toEqual([]);
    await other.context.close();
  });

  it("finds keys by name and creator across pages, and Back returns to the list", async () => {
    const { makeKey, makeMember, call } = administrator(underTest.stack);
    const creator_user_id = await makeMember("hedwig@example.com");
    await call("PATCH", `/organization/members/${creator_user_id}`, { first_name: "Hedwig", last_name: "Kiesler" });
    const name = freshName("long ago");
    await makeKey({ name, creator_user_id });
    // More than a page of newer ones, so that it is not among the loaded ones.
    for (let count = 0; count < 51; count++) await makeKey({ name: freshName("newer") });
    await openKeys(on);
    const { page } = on;
    expect(await page.getByText(name).count()).toBe(0);
    await page.keyboard.press("/");
    for (const q of [name.toUpperCase(), "hedwig"]) {
      await page.getByRole("searchbox", { name: "Search keys" }).fill(q);
      await page.getByText("1–1 of 1").waitFor();
      await page.locator(".keys-table").getByText(name).waitFor();
      await expect.poll(() => new URL(page.url()).searchParams.get("q")).toBe(q);
    }
    await page.getByRole("status").getByText("1 key").waitFor();
    await choose(name, /^Disable/);
    await page.locator(".keys-table").getByText("Disabled", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Enabled", exact: true }).click();
    await page.getByText("No key matches").waitFor();
    expect(await on.axeViolations()).toEqual([]);
    await page.goBack();
    await page.locator(".keys-table").getByText(name).waitFor();
    await page.goBack();
    await page.getByText(/^1–50 of/).waitFor();
  });

  it("finds a key by its full secret, of which only the label remains", async () => {
    const name = freshName("pasted");
    const { key } = await administrator(underTest.stack).makeKey({ name });
    await openKeys(on);
    const { page } = on;
    await page.getByRole("searchbox").fill(key);
    await page.getByText("1–1 of 1").waitFor();
    await page.locator(".keys-table").getByText(name).waitFor();
    const label = (await keyNow(name))?.label ?? "";
    expect(await page.getByRole("searchbox").inputValue()).toBe(label);
    expect(new URL(page.url()).searchParams.get("q")).toBe(label);
  });
});
