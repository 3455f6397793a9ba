import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { administrator } from "../support/administration-rest.ts";
import { findBrowser } from "../support/browser.ts";
import { type ConsolePage, type ConsoleUnderTest, chooseFromMenu, openConsole } from "../support/console-browser.ts";
import { freshName } from "../support/fresh-name.ts";
import { presetClients } from "../support/preset-clients.ts";
import type { PresetJson } from "../support/rest.ts";
import { callStock, stockClient } from "../support/stock-grpc.ts";

const browserPath = await findBrowser();

let underTest: ConsoleUnderTest;

describe.skipIf(!browserPath)("the console during concurrent changes", { timeout: 180_000 }, () => {
  beforeAll(async () => {
    underTest = await openConsole(browserPath ?? "");
  }, 180_000);

  afterAll(() => underTest?.close());

  async function createPreset(prompts: readonly string[] = ["Be brief.", "Be kind."]): Promise<string> {
    const slug = freshName("busy");
    for (const content of prompts)
      expect((await underTest.stack.create(slug, { messages: [{ role: "system", content }] })).status).toBe(200);
    return slug;
  }

  function signedIn(): Promise<ConsolePage> {
    return underTest.newPage({ key: underTest.stack.managementKey });
  }

  const call = <Data>(method: string, path: string, body?: unknown) =>
    administrator(underTest.stack).call<Data>(method, path, body);

  const patch = (slug: string, body: object) =>
    underTest.stack.request<PresetJson>("PATCH", `/presets/${slug}`, { key: underTest.stack.apiKey, body });

  async function accessToken(): Promise<string> {
    const { stack } = underTest;
    const access = stockClient("setpoint.organization.v1.AccessService", stack.organization.config.grpcPort);
    const answer = await callStock<{ accessToken: string }>(access, "ExchangeKey", { key: stack.apiKey });
    access.close();
    return answer.accessToken;
  }

  it("sends only the changed settings, even if a colleague saved first", async () => {
    const slug = await createPreset();
    const { page, open } = await signedIn();
    await open(`/default/presets/${slug}`);
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByLabel("Description").fill("Mine.");
    await patch(slug, { name: "Theirs" });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").getByRole("alert").getByText("What you entered is still here").waitFor();
    // The colleague's change is known by now.
    await page.getByText("Theirs").first().waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The settings were saved.").waitFor();
    const { json } = await underTest.stack.request<PresetJson>("GET", `/presets/${slug}`, {
      key: underTest.stack.apiKey,
    });
    expect(json.data).toMatchObject({ name: "Theirs", description: "Mine." });
  });

  it("accepts as many characters as the API, whichever they are, and cuts off none that are too many", async () => {
    const slug = await createPreset();
    const { page, open } = await signedIn();
    await open(`/default/presets/${slug}`);
    await page.getByRole("button", { name: "Settings" }).click();
    const description = page.getByLabel("Description");
    await description.focus();
    await page.keyboard.insertText("😀".repeat(2_001));
    await page.getByText("At most 2,000 characters fit; these are 2,001.").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    expect(await description.evaluate((field) => field.matches(":focus:invalid"))).toBe(true);
    expect(await description.inputValue()).toBe("😀".repeat(2_001));
    await page.keyboard.press("Backspace");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The settings were saved.").waitFor();
    const { json } = await underTest.stack.request<PresetJson>("GET", `/presets/${slug}`, {
      key: underTest.stack.apiKey,
    });
    expect(json.data).toMatchObject({ description: "😀".repeat(2_000) });
  });

  it("explains how to make an archived preset accept versions, in console terms", async () => {
    const slug = await createPreset();
    const { page, open } = await signedIn();
    await patch(slug, { status: "archived" });
    await open(`/default/presets/${slug}/edit`);
    await page.getByText("Make it active first, in its settings. What you write here cannot be saved.").waitFor();
    await page.getByLabel("System prompt").fill("Mine.");
    await page.getByRole("button", { name: "Review the changes" }).click();
    await page.getByRole("button", { name: "Save new version" }).click();
    const refusal = page.getByRole("alert");
    await refusal.getByText("Your draft stays here meanwhile.").waitFor();
    expect(await refusal.innerText()).not.toContain("PATCH");
    await patch(slug, { status: "active" });
    await page.getByRole("button", { name: "Save new version" }).click();
    await page.getByRole("button", { name: "Merge and review" }).click();
    await page.getByRole("button", { name: "Save new version" }).click();
    await page.getByText("Saved as v3").waitFor();
  });

  it("sends only the changed fields of a form, even if its list was reloaded", async () => {
    const name = freshName("Ada");
    const email = `${name.toLowerCase()}@example.com`;
    const added = await call<{ id: string }>("POST", "/organization/members", { email, first_name: name });
    const path = `/organization/members/${added.json.data.id}`;
    const { page, open } = await signedIn();
    await page.clock.install();
    await open("/default/team");
    await chooseFromMenu(page, `Actions for ${name}`, "Edit");
    await page.getByLabel("First name").fill("Augusta");
    await call("PATCH", path, { last_name: "Lovelace" });
    const renamed = page.getByText(`${name} Lovelace`).first();
    await expect
      .poll(async () => {
        await page.clock.fastForward(30_000);
        return renamed.count();
      })
      .toBeGreaterThan(0);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText(`${email} is changed.`).waitFor();
    const { json } = await call<{ id: string }[]>("GET", "/organization/members?limit=100");
    expect(json.data.find(({ id }) => id === added.json.data.id)).toMatchObject({
      first_name: "Augusta",
      last_name: "Lovelace",
    });
  });

  it("reports a failed undo even after its screen was left", async () => {
    const slug = await createPreset();
    const { page, open } = await signedIn();
    await open(`/default/presets/${slug}?v=1`);
    await page.getByRole("button", { name: "Roll back to v1" }).click();
    await page.getByText(`${slug} now serves v1.`).waitFor();
    await page.getByRole("link", { name: "Activity" }).click();
    await page.getByRole("heading", { name: "Activity" }).waitFor();
    await patch(slug, { name: "Theirs" });
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText(`${slug} was not changed: `).waitFor();

    const workspace = freshName("wiped");
    const email = `${freshName("alan")}@example.com`;
    await call("POST", "/workspaces", { name: workspace, slug: workspace });
    const added = await call<{ id: string }>("POST", "/organization/members", { email });
    const userId = added.json.data.id;
    await call("POST", `/workspaces/${workspace}/members/add`, { user_ids: [userId] });
    await open(`/default/team/${workspace}`);
    await page.getByRole("button", { name: `Remove ${email}` }).click();
    await page.getByText(`${email} is no longer a member of`).waitFor();
    await page.getByRole("link", { name: "Activity" }).click();
    await page.getByRole("heading", { name: "Activity" }).waitFor();
    await call("DELETE", `/organization/members/${userId}`);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText(`${email} was not added again: `).waitFor();
  });

  it("does not replace the search field when a search without results is cleared", async () => {
    const slug = await createPreset();
    const { page, open } = await signedIn();
    await open("/default/presets");
    await page.getByRole("link", { name: slug }).waitFor();
    const search = page.getByRole("searchbox");
    await search.fill("nothing-is-called-so");
    await page.getByText("No preset matches").waitFor();
    await search.evaluate((field) => field.setAttribute("data-kept", ""));
    await search.fill("");
    await page.getByRole("link", { name: slug }).waitFor();
    expect(await search.getAttribute("data-kept")).toBe("");
  });

  it("finds a preset by the name by which programs call it", async () => {
    const slug = await createPreset();
    const { page, open } = await signedIn();
    await open("/default/presets");
    await page.getByRole("searchbox").fill(`@preset/${slug}`);
    await page.waitForURL((url) => url.searchParams.get("q") === `@preset/${slug}`);
    await expect.poll(() => page.locator(".preset-table .row-link").count()).toBe(1);
    await page.keyboard.press("Control+k");
    await page.keyboard.insertText(`@preset/${slug}@1`);
    await page.getByRole("option", { name: slug }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("Serves v2").waitFor();
  });

  it("returns from a search to the list as it was, and then to the page before", async () => {
    const slug = await createPreset();
    const { page, open } = await signedIn();
    await open("/default/team");
    await page.getByRole("link", { name: "Presets" }).click();
    await page.getByRole("link", { name: slug }).waitFor();
    const search = page.getByRole("searchbox");
    // One search is one history entry, however often the typing pauses.
    for (const text of ["nothing", "nothing-is-called-so"]) {
      await search.fill(text);
      await page.waitForURL((url) => url.searchParams.get("q") === text);
    }
    await page.goBack();
    await page.getByRole("link", { name: slug }).waitFor();
    expect(await search.inputValue()).toBe("");
    await search.fill(slug);
    await page.waitForURL((url) => url.searchParams.get("q") === slug);
    await page.getByRole("link", { name: slug }).click();
    await page.getByText("Serves v2").waitFor();
    await page.goBack();
    await expect.poll(() => search.inputValue()).toBe(slug);
    await page.goBack();
    await expect.poll(() => search.inputValue()).toBe("");
    // A search that was cleared again is not a history entry.
    await search.fill("nothing");
    await page.waitForURL((url) => url.searchParams.get("q") === "nothing");
    await search.fill("");
    await page.waitForURL((url) => !url.searchParams.has("q"));
    await page.getByRole("link", { name: slug }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Team" }).waitFor();
  });

  it("shows the latest sign-in in every tab, and signs out of all tabs", async () => {
    const one = await signedIn();
    await one.open("/default/keys");
    await one.page.getByRole("button", { name: "Create a key" }).waitFor();
    const other = await one.newTab();
    await other.open("/default/presets");
    await chooseFromMenu(other.page, "Account", "Sign out");
    await one.page.getByRole("heading", { name: "Sign in" }).waitFor();
    await other.page.getByLabel("Key", { exact: true }).fill(underTest.stack.apiKey);
    await other.page.keyboard.press("Enter");
    await one.page.getByText("This needs a management key").first().waitFor();
    await one.page.getByRole("button", { name: "Account" }).click();
    await one.page.getByText("API key sk-sp-v1-").waitFor();
    expect(await one.faults()).toEqual([]);
  });

  it("allows choosing in the palette once presets have loaded, whatever was pressed before", async () => {
    const slug = await createPreset();
    const { page, open } = await signedIn();
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await open("/default/activity");
    await page.locator(".activity-entry a").first().waitFor();
    await page.route("**/api/v1/presets?**", async (route) => {
      await held;
      await route.continue();
    });
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search presets and commands" }).waitFor();
    await page.keyboard.press("ArrowDown");
    answer();
    await page.getByRole("option", { name: slug }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("Serves v2").waitFor();
  });

  const prompt = (page: Page) => page.getByRole("textbox", { name: "System prompt" });

  async function saveAfterColleague({ page, open }: ConsolePage, mine: string, theirs: string): Promise<string> {
    const slug = await createPreset(["One.\nTwo.\nThree.\nFour."]);
    await open(`/default/presets/${slug}/edit?from=1`);
    await prompt(page).fill(mine);
    await underTest.stack.create(slug, { messages: [{ role: "system", content: theirs }] });
    await page.getByRole("button", { name: "Review the changes" }).click();
    await page.getByRole("button", { name: "Save new version" }).click();
    await page.getByText("Someone else changed this preset").waitFor();
    return slug;
  }

  it("keeps both changes of a prompt that two people changed in different lines", async () => {
    const on = await signedIn();
    const slug = await saveAfterColleague(on, "One!\nTwo.\nThree.\nFour.", "One.\nTwo.\nThree.\nFour!");
    await on.page.getByText("in different lines: both changes are kept").waitFor();
    expect(await on.page.getByRole("radio").count()).toBe(0);
    await on.page.getByRole("button", { name: "Merge and review" }).click();
    await on.page.getByRole("button", { name: "Save new version" }).click();
    await on.page.getByText("Saved as v3").waitFor();
    const { json } = await underTest.stack.request<PresetJson>("GET", `/presets/${slug}`, {
      key: underTest.stack.apiKey,
    });
    expect(json.data.designated_version).toMatchObject({ version: 3, system_prompt: "One!\nTwo.\nThree.\nFour!" });
    expect(await on.faults()).toEqual([]);
  });

  it("returns from a merge to the draft", async () => {
    const on = await signedIn();
    await saveAfterColleague(on, "One!", "One?");
    for (const goBack of [
      () => on.page.goBack(),
      () => on.page.getByRole("link", { name: "Back to editing" }).click(),
    ]) {
      await goBack();
      await expect.poll(() => prompt(on.page).inputValue()).toBe("One!");
      await on.page.getByRole("button", { name: "Review the changes" }).click();
      await on.page.getByText("Someone else changed this preset").waitFor();
    }
  });

  it("leads back to a draft of a version that is no longer served", async () => {
    const slug = await createPreset();
    const { page, open } = await signedIn();
    await open(`/default/presets/${slug}`);
    await page.getByRole("button", { name: "Edit v2" }).click();
    await prompt(page).fill("Mine.");
    await page.getByRole("link", { name: "Back to the preset" }).click();
    const notice = page.getByText("You have an unsaved draft, based on v2.");
    await notice.waitFor();
    await underTest.stack.create(slug, { messages: [{ role: "system", content: "Theirs." }] });
    await page.getByRole("button", { name: "Edit v3" }).waitFor();
    await page.getByRole("link", { name: "Continue with it" }).click();
    await expect.poll(() => prompt(page).inputValue()).toBe("Mine.");
    await page.getByRole("button", { name: "Discard it" }).click();
    await page.getByRole("link", { name: "Back to the preset" }).click();
    await page.getByText("Serves v3").waitFor();
    expect(await notice.count()).toBe(0);
  });

  it("does not take a config for changed because another program stored it with spaces", async () => {
    const { stack } = underTest;
    const slug = freshName("spaced");
    const create = presetClients(stack.preset.config)["fetch with JSON"];
    await create({ slug, configJson: '{"model": "a", "stop": ["x", "y"]}' }, { token: await accessToken() });
    const { page, open } = await signedIn();
    await open(`/default/presets/${slug}/edit?from=1`);
    await prompt(page).fill("Mine.");
    await page.getByRole("button", { name: "Review the changes" }).and(page.locator(":not([aria-disabled])")).waitFor();
    await prompt(page).fill("");
    await page.getByRole("button", { name: "Review the changes" }).and(page.locator("[aria-disabled]")).waitFor();
    await open(`/default/presets/${slug}/edit?from=1&review=1`);
    await page.getByText("Nothing has changed since v1.").waitFor();
    await page.getByText("No difference").waitFor();
    await open(`/default/presets/${slug}`);
    await page.getByText("Serves v1").waitFor();
    expect(await page.getByText("You have an unsaved draft").count()).toBe(0);
  });

  it("shows that a rollback is under way, if it takes long", async () => {
    const slug = await createPreset();
    const { page, open } = await signedIn();
    await open(`/default/presets/${slug}`);
    let proceed = (): void => {};
    await page.route("**/api/v1/presets/**", async (route) => {
      if (route.request().method() !== "PATCH") return route.continue();
      await new Promise<void>((resolve) => {
        proceed = resolve;
      });
      await route.continue();
    });
    const rollBack = page.getByRole("button", { name: "Roll back to v1" });
    await rollBack.click();
    await expect.poll(() => rollBack.getAttribute("aria-busy")).toBe("true");
    const bar = "getComputedStyle(document.querySelector('.button[aria-busy=true]'), '::after')";
    await expect.poll(() => page.evaluate(`[${bar}.visibility, ${bar}.height]`)).toEqual(["visible", "2px"]);
    proceed();
    await page.getByText(`${slug} now serves v1.`).waitFor();
    expect(await page.locator("[aria-busy=true]").count()).toBe(0);
  });

  it("does not claim that nothing was rolled back if no answer came, and rolls back once", async () => {
    const slug = await createPreset();
    const { page, open } = await signedIn();
    await open(`/default/presets/${slug}`);
    const rollBack = page.getByRole("button", { name: "Roll back to v1" });
    await rollBack.waitFor();
    await page.route("**/api/v1/presets/**", async (route) => {
      if (route.request().method() === "PATCH") await route.fetch();
      await route.abort();
    });
    await rollBack.click();
    await page.getByRole("heading", { name: "No answer arrived" }).waitFor();
    await page.keyboard.press("Escape");
    await page.unroute("**/api/v1/presets/**");
    await rollBack.click();
    await page.getByText(`${slug} now serves v1.`).waitFor();
    const { json } = await underTest.stack.request<{ total_count: number }>("GET", `/presets/${slug}/changes`, {
      key: underTest.stack.apiKey,
    });
    expect(json).toMatchObject({ total_count: 3 });
  });

  it("reports that it cannot compare if its files are gone, as after an upgrade", async () => {
    const slug = await createPreset();
    const { page, open } = await signedIn();
    await page.route("**/diff-worker*", (route) => route.fulfill({ status: 404 }));
    await open(`/default/presets/${slug}/compare/1...2`);
    await page.getByText("This part of the console could not be loaded").waitFor();
    await page.unroute("**/diff-worker*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator("ins").first().waitFor();
  });

  it.each([
    ["Keys", "Keys", "Create a key"],
    ["Try it", "Try busy", "Send to the model"],
  ])("keeps running while %s cannot be loaded, and loads it once the gateway is back", async (link, title, action) => {
    const slug = await createPreset();
    const { page, open } = await signedIn();
    // What is loaded ahead must fail, too.
    await page.route("**/writing-*.js", (route) => route.abort());
    await open(`/default/presets/${slug}`);
    await page.getByRole("link", { name: "Try it" }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole("link", { name: link, exact: true }).click();
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    await page.getByText("The gateway cannot be reached").waitFor();
    await page.unroute("**/writing-*.js");
    await page.context().setOffline(false);
    // By itself.
    await page.getByRole("button", { name: action }).waitFor();
  });

  it("unfolds all unchanged lines, however many", async () => {
    const lines = Array.from({ length: 1_200 }, (_, line) => `line ${line}`).join("\n");
    const slug = await createPreset([`${lines}\nBe brief.`, `${lines}\nBe kind.`]);
    const { page, open } = await signedIn();
    await open(`/default/presets/${slug}/compare/1...2`);
    const fold = page.getByRole("button", { name: /unchanged lines$/ });
    await fold.waitFor();
    // One page of them at a time.
    while ((await fold.count()) > 0) await fold.click();
    await expect.poll(() => page.locator(".diff-row").count()).toBe(1_201);
  });

  it("counts all changes of a long prompt, of which only the first are shown", async () => {
    const lines = Array.from({ length: 1_200 }, (_, line) => `line ${line}`);
    const changed = lines.map((line, index) => (index % 4 === 0 ? `${line}, changed` : line));
    const slug = await createPreset([lines.join("\n"), changed.join("\n")]);
    const { page, open } = await signedIn();
    await open(`/default/presets/${slug}/compare/1...2`);
    await page.getByText("300 changes", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("1 of 125 shown", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Show more lines" }).click();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("2 of 300", { exact: true }).waitFor();
  });

  it("recounts changes when other versions are compared", async () => {
    const slug = await createPreset();
    const { page, open } = await signedIn();
    await open(`/default/presets/${slug}/compare/1...2`);
    await page.getByText("1 change", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("1 of 1", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Swap the two versions" }).click();
    await page.getByRole("heading", { name: "Compare v2 with v1" }).waitFor();
    await page.getByText("1 change", { exact: true }).waitFor();
  });

  it("shows where two changed prompts differ, however long they are", async () => {
    const rules = Array.from(
      { length: 600 },
      (_, index) => `Rule ${index + 1} of the house: ask for the order number.`,
    );
    const prompt = rules.join("\n");
    const slug = await createPreset([prompt]);
    const { page, open, axeViolations } = await signedIn();
    await open(`/default/presets/${slug}/edit?from=1`);
    await page.locator(".cm-content").waitFor();
    await page.locator("textarea").fill(`${prompt}\nBe brief.`);
    const messages = [{ role: "system", content: `${prompt}\nBe kind.` }];
    expect((await underTest.stack.create(slug, { messages })).status).toBe(200);
    await page.getByRole("button", { name: "Review the changes" }).click();
    await page.getByRole("button", { name: "Save new version" }).click();
    await page.getByText("Someone else changed this preset").waitFor();
    await page.locator("del", { hasText: "Be brief." }).waitFor();
    await page.locator("ins", { hasText: "Be kind." }).waitFor();
    await page.getByRole("button", { name: "597 unchanged lines" }).waitFor();
    expect(await axeViolations()).toEqual([]);
    await page.getByRole("radio", { name: "Theirs (v2)" }).check();
    await page.getByRole("button", { name: "Merge and review" }).click();
    await page.getByText("No difference").waitFor();
  });

  it("reloads a version to try on request", async () => {
    const slug = await createPreset();
    const { page, open } = await signedIn();
    await page.route("**/versions/1*", (route) => route.fulfill({ status: 503 }));
    await open(`/default/presets/${slug}/try?v=1`);
    await page.getByText("The version could not be loaded").waitFor();
    await page.unroute("**/versions/1*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText(/^v1, /).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });
});
