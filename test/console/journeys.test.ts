import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { administrator } from "../support/administration-rest.ts";
import { findBrowser } from "../support/browser.ts";
import { type ConsolePage, type ConsoleUnderTest, openConsole } from "../support/console-browser.ts";
import { freshName } from "../support/fresh-name.ts";
import { press, tabTo } from "../support/keyboard.ts";
import type { PresetJson } from "../support/rest.ts";

const browserPath = await findBrowser();
const journeyTimeoutMs = 180_000;

let underTest: ConsoleUnderTest;

describe.skipIf(!browserPath)("a user of the console with only a keyboard", () => {
  beforeAll(async () => {
    underTest = await openConsole(browserPath ?? "");
  }, journeyTimeoutMs);

  afterAll(() => underTest?.close());

  const create = (slug: string, body: object, prompt: string) =>
    underTest.stack.create(slug, { ...body, messages: [{ role: "system", content: prompt }] });

  it("signs in, finds a preset, compares, rolls back and undoes it", { timeout: journeyTimeoutMs }, async () => {
    const { stack } = underTest;
    const slug = freshName("support-bot");
    await create(slug, { model: "a", temperature: 1.0 }, "Be brief.");
    await create(slug, { model: "b", temperature: 1.0 }, "Be brief and kind.");
    await create("other", { model: "a" }, "Other.");
    const on = await underTest.newPage();
    const { page } = on;
    await on.open("/");
    // The field is focused and accepts pasted text.
    await page.getByLabel("Key", { exact: true }).waitFor();
    await page.keyboard.insertText(stack.managementKey);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Presets" }).waitFor();
    await page.getByText("other", { exact: true }).waitFor();

    await page.keyboard.press("/");
    await page.keyboard.type("supp");
    await page.waitForURL(/q=supp/);
    await page.getByText("other", { exact: true }).waitFor({ state: "detached" });
    await press(on, slug, "link");
    await page.getByText("Serves v2").waitFor();
    await page.locator(".change[data-shown]").getByText("prompt, model", { exact: true }).waitFor();
    expect(await page.title()).toBe(`${slug} · Setpoint`);
    expect(await page.evaluate("document.activeElement.tagName")).toBe("H1");

    await press(on, "Compare v1 with v2", "link");
    await page.waitForURL(/compare\/1\.\.\.2/);
    await page.locator("ins mark").first().waitFor();
    expect(await page.locator("ins").allInnerTexts()).toContain("Be brief and kind.");
    await page.keyboard.press("n");
    await page.getByText("1 of 2", { exact: true }).waitFor();

    await page.goBack();
    await press(on, "v1", "link");
    await press(on, "Roll back to v1");
    await page.getByText(`${slug} now serves v1.`).waitFor();
    const served = async () => {
      const { json } = await stack.request<PresetJson>("GET", `/presets/${slug}`, { key: stack.apiKey });
      return json.data.designated_version.version;
    };
    expect(await served()).toBe(1);
    // The button is gone, and the focus stays in its place.
    await page.getByRole("button", { name: "Roll back to v1" }).waitFor({ state: "detached" });
    await expect.poll(() => page.evaluate("document.activeElement.className")).toBe("serving-text");
    await press(on, "Undo");
    await page.getByText(`${slug} now serves v2.`).waitFor();
    expect(await served()).toBe(2);
    expect(await on.faults()).toEqual([]);
  });

  it("rolls back from the newest version to the one served before in one press", {
    timeout: journeyTimeoutMs,
  }, async () => {
    const { stack } = underTest;
    const slug = freshName("pressed");
    for (const model of ["a", "b", "c"]) await create(slug, { model }, "Same.");
    await stack.request("PATCH", `/presets/${slug}`, { key: stack.apiKey, body: { designated_version: 1 } });
    await create(slug, { model: "d" }, "Same.");
    const on = await underTest.newPage({ key: stack.managementKey });
    const { page } = on;
    await on.open(`/default/presets/${slug}`);
    await page.getByText("Serves v4, the newest").waitFor();
    await page.getByRole("link", { name: "Compare with v1" }).waitFor();
    await press(on, "Roll back to v1");
    await page.getByText(`${slug} now serves v1.`).waitFor();
    await page.getByText("Serves v1, newest is v4").waitFor();
    // Otherwise a second Enter would press the button that replaces it.
    await expect.poll(() => page.evaluate("document.activeElement.className")).toBe("serving-text");
    await press(on, "Serve v4");
    await page.getByText("Serves v4, the newest").waitFor();
    await press(on, "Compare with v1", "link");
    await page.waitForURL(/compare\/1\.\.\.4$/);
    expect(await on.faults()).toEqual([]);
  });

  it("sees the model and version of each preset in the list", { timeout: journeyTimeoutMs }, async () => {
    const { stack } = underTest;
    const slug = freshName("listed");
    const body = { designated_version: 1 };
    await create(`${slug}-back`, { model: "openai/gpt-4.1" }, "Be brief.");
    await create(`${slug}-back`, { model: "openai/gpt-5" }, "Be brief.");
    await stack.request("PATCH", `/presets/${slug}-back`, { key: stack.apiKey, body });
    await create(`${slug}-none`, { temperature: 1 }, "Be kind.");
    const on = await underTest.newPage({ key: stack.managementKey });
    await on.open(`/default/presets?q=${slug}`);
    await expect
      .poll(() => on.page.locator("td.column-model").allInnerTexts())
      .toEqual(["v1", "openai/gpt-4.1\nv1, newest is v2"]);
    expect(await on.shifts()).toEqual([]);
    expect(await on.faults()).toEqual([]);
  });

  it("sees in the history what each version changed", { timeout: journeyTimeoutMs }, async () => {
    const slug = freshName("grown");
    await create(slug, { model: "a" }, "Be brief.");
    await create(slug, { model: "b", seed: 1 }, "Be brief.");
    await create(slug, { model: "b" }, "Be kind.");
    await create(slug, { model: "b" }, "Be kind.");
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    await on.open(`/default/presets/${slug}`);
    await expect
      .poll(() => on.page.locator(".changed-fields").allInnerTexts())
      .toEqual(["Nothing changed", "prompt, − seed", "model, + seed"]);
    expect(await on.shifts()).toEqual([]);
    // The whole entry links to its version.
    const { width = 0, height = 0 } = (await on.page.locator(".change").nth(1).boundingBox()) ?? {};
    await on.page
      .locator(".change")
      .nth(1)
      .click({ position: { x: width - 8, y: height - 8 } });
    await on.page.waitForURL(/\?v=3$/);
    // A change of several things is one sentence.
    const { stack } = underTest;
    const body = { name: "Grown up", description: "For adults" };
    await stack.request("PATCH", `/presets/${slug}`, { key: stack.apiKey, body });
    await on.page.getByText(/^Renamed to “Grown up”; description changed$/).waitFor();
    expect(await on.faults()).toEqual([]);
  });

  it("sees in a comparison who made each version, and rolls back there", { timeout: journeyTimeoutMs }, async () => {
    const { stack } = underTest;
    const slug = freshName("compared");
    for (const model of ["a", "b", "c"]) await create(slug, { model }, "Same.");
    const on = await underTest.newPage({ key: stack.managementKey });
    await on.open(`/default/presets/${slug}/compare/2...3`);
    const [older, newer] = [0, 1].map((index) => on.page.locator(".compared-version").nth(index));
    await newer?.getByText("Serving").waitFor();
    const wordsOf = async (side: Locator | undefined) => (await side?.innerText())?.replaceAll(/\s+/g, " ");
    await expect.poll(() => wordsOf(newer)).toMatch(/^To v3 Serving .+ just now Open 1 change$/);
    expect(await wordsOf(older)).toMatch(/^From v2 .+ just now Roll back to v2 Open$/);
    expect(await on.shifts()).toEqual([]);
    // Each is named where it is chosen and in the heading.
    expect(
      await on.page
        .locator("main")
        .getByText(/\bv2\b/)
        .and(on.page.locator(":visible"))
        .allInnerTexts(),
    ).toEqual(["Compare v2 with v3", "v2", "Roll back to v2"]);
    await press(on, "Roll back to v2");
    await on.page.getByText(`${slug} now serves v2.`).waitFor();
    await older?.getByText("Serving").waitFor();
    await newer?.getByRole("button", { name: "Serve v3" }).waitFor();
    await expect.poll(() => on.page.evaluate("document.activeElement.className")).toContain("compared-versions");
    // Versions newer than the served one are one link away.
    await press(on, slug, "link");
    await press(on, "Compare with v3", "link");
    await on.page.waitForURL(/compare\/2\.\.\.3$/);
    await press(on, "Undo");
    await newer?.getByText("Serving").waitFor();
    expect(await on.faults()).toEqual([]);
  });

  it("reads a long prompt in full, and is led past its changes to those of the config", {
    timeout: journeyTimeoutMs,
  }, async () => {
    const slug = freshName("wordy");
    const rules = Array.from({ length: 700 }, (_, index) => `Rule ${index}: ask for the order number first.`).join(
      "\n",
    );
    await create(slug, { model: "a", temperature: 0.2 }, `${rules}\nBe brief.`);
    await create(slug, { model: "a", temperature: 0.9 }, `${rules.replaceAll("00:", "00, at last:")}\nBe brief.`);
    await create(slug, { model: "b", temperature: 0.9 }, "Be brief.");
    await create(slug, { model: "c", temperature: 0.9 }, "Be kind.");
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    await on.open(`/default/presets/${slug}?v=1`);
    await page.getByText("Be brief.").waitFor();
    await on.open(`/default/presets/${slug}/compare/1...2`);
    const config = page.getByRole("heading", { name: "Config" });
    await config.waitFor({ state: "attached" });
    expect((await config.boundingBox())?.y).toBeGreaterThan(800);
    await press(on, "Config: 1 field differs", "link");
    await expect.poll(async () => (await config.boundingBox())?.y).toBeLessThan(800);
    // Back is the comparison's beginning, and not another page.
    await page.goBack();
    expect(page.url()).toMatch(/compare\/1\.\.\.2$/);
    expect(await on.axeViolations()).toEqual([]);
    // Both are in sight.
    await on.open(`/default/presets/${slug}/compare/3...4`);
    await page.getByText("1 field differs").waitFor();
    expect(await page.getByRole("link", { name: /^Config/ }).count()).toBe(0);
    expect(await on.faults()).toEqual([]);
  });

  it("chooses versions to compare by author, and older ones by number", {
    timeout: journeyTimeoutMs,
  }, async () => {
    const { stack } = underTest;
    const slug = freshName("chosen");
    for (const model of ["a", "b", "c"]) await create(slug, { model }, "Same.");
    const on = await underTest.newPage({ key: stack.managementKey });
    const { page } = on;
    await on.open(`/default/presets/${slug}/compare/2...3`);
    await press(on, "From v2: choose another version");
    const items = page.locator(".menu:popover-open a");
    await expect.poll(() => items.allInnerTexts()).toHaveLength(3);
    expect((await items.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " "))[2]).toMatch(/^v1 .+ · just now$/);
    expect(await page.getByLabel(/^Another/).count()).toBe(0);
    expect(await on.axeViolations()).toEqual([]);
    // From the chosen one to the one before it.
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/compare\/1\.\.\.3$/);

    // The loaded log reaches back a hundred changes.
    for (let change = 0; change < 100; change++) {
      await stack.request("PATCH", `/presets/${slug}`, { key: stack.apiKey, body: { name: `Name ${change}` } });
    }
    await on.open(`/default/presets/${slug}/compare/1...3`);
    await press(on, "From v1: choose another version");
    await page.keyboard.type("2");
    await page.keyboard.press("Enter");
    await page.waitForURL(/compare\/2\.\.\.3$/);
    expect(await on.faults()).toEqual([]);
  });

  it("sees a colleague's change before a rollback overwrites it", { timeout: journeyTimeoutMs }, async () => {
    const { stack } = underTest;
    const slug = freshName("raced");
    for (const model of ["a", "b", "c"]) await create(slug, { model }, "Same.");
    const on = await underTest.newPage({ key: stack.managementKey });
    await on.open(`/default/presets/${slug}?v=1`);
    await on.page.getByRole("button", { name: "Roll back to v1" }).waitFor();
    await stack.request("PATCH", `/presets/${slug}`, { key: stack.apiKey, body: { designated_version: 2 } });
    await press(on, "Roll back to v1");
    await on.page.getByText("Someone else changed this preset").waitFor();
    await on.page.getByText("Rolled back v3 → v2").first().waitFor();
    await press(on, "Serve v1 anyway");
    await on.page.getByText(`${slug} now serves v1.`).waitFor();
    expect(await on.faults()).toEqual([]);
  });

  it("merges with a version saved in another tab, and loses nothing", { timeout: journeyTimeoutMs }, async () => {
    const { stack } = underTest;
    const slug = freshName("shared");
    await create(slug, { model: "a", temperature: 1.0, top_p: 0.5 }, "Be brief.");
    const one = await underTest.newPage({ key: stack.managementKey });
    const other = await one.newTab();
    for (const on of [one, other]) {
      await on.open(`/default/presets/${slug}/edit?from=1`);
      await on.page.locator(".cm-content").waitFor();
    }
    const write = async ({ page }: ConsolePage, config: string) => {
      await page.locator(".cm-content").focus();
      await page.keyboard.press("Control+a");
      await page.keyboard.insertText(config);
    };
    await write(one, '{"model": "a", "temperature": 0.2, "top_p": 0.5}');
    await press(one, "Review the changes");
    await press(one, "Save new version");
    await one.page.getByText("Saved as v2").waitFor();

    await write(other, '{"model": "b", "temperature": 0.9, "top_p": 0.5}');
    // A draft survives a reload.
    await other.page.reload();
    await other.page.getByText("This is your earlier draft").waitFor();
    await press(other, "Review the changes");
    await press(other, "Save new version");
    await other.page.getByText("Someone else changed this preset").waitFor();
    await press(other, "Mine", "radio");
    await other.page.keyboard.press("ArrowDown");
    expect(await other.page.getByRole("radio", { name: "Theirs (v2)" }).isChecked()).toBe(true);
    await press(other, "Merge and review");
    await press(other, "Save new version");
    await other.page.getByText("Saved as v3").waitFor();
    const { json } = await stack.request<{ config: unknown }>("GET", `/presets/${slug}/versions/3`, {
      key: stack.apiKey,
    });
    expect(json.data.config).toEqual({ model: "b", temperature: 0.2, top_p: 0.5 });
    expect(await one.faults()).toEqual([]);
    expect(await other.faults()).toEqual([]);
  });

  it("changes only the line that was edited, in a prompt with line breaks of Windows", {
    timeout: journeyTimeoutMs,
  }, async () => {
    const slug = freshName("windows");
    await create(slug, { model: "a" }, "Be brief.\r\nBe kind.\r\nSay why.");
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    await on.open(`/default/presets/${slug}/edit?from=1`);
    await tabTo(on, "System prompt", "textbox");
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("ArrowDown");
    // The caret stays where it is.
    await page.keyboard.type("Always, ");
    await press(on, "Review the changes");
    await page.getByText("Always, ").waitFor();
    expect(await page.locator(".is-added").allInnerTexts()).toEqual([expect.stringContaining("Always, Be kind.")]);
    await press(on, "Save new version");
    await page.getByText("Saved as v2").waitFor();
    const { json } = await underTest.stack.request<PresetJson>("GET", `/presets/${slug}`, {
      key: underTest.stack.apiKey,
    });
    expect(json.data.designated_version.system_prompt).toBe("Be brief.\r\nAlways, Be kind.\r\nSay why.");
    // A comparison shows line breaks that differ.
    await create(slug, { model: "a" }, "Be brief.\nAlways, Be kind.\r\nSay why.");
    await on.open(`/default/presets/${slug}/compare/2...3`);
    await page.locator("del mark").getByText("␍").waitFor();
    expect(await page.locator(".is-removed").count()).toBe(1);
    expect(await on.faults()).toEqual([]);
  });

  it("is told that there is no change to step to", { timeout: journeyTimeoutMs }, async () => {
    const slug = freshName("circular");
    for (const model of ["a", "b", "a"]) await create(slug, { model }, "Same.");
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    await on.open(`/default/presets/${slug}/compare/1...3`);
    await on.page.getByText("No difference").waitFor();
    for (const name of ["Previous change", "Next change"]) {
      await tabTo(on, name, "button");
      expect(await on.page.getByRole("button", { name }).getAttribute("aria-disabled")).toBe("true");
      await on.page.getByRole("tooltip", { name: "There are no changes" }).and(on.page.locator(":visible")).waitFor();
    }
    await on.open(`/default/presets/${slug}/compare/1...2`);
    await press(on, "Next change");
    await on.page.getByText("1 of 1", { exact: true }).waitFor();
    expect(await on.faults()).toEqual([]);
  });

  it("sees the server's issues at their fields", { timeout: journeyTimeoutMs }, async () => {
    // The config is below the visible part of the page.
    await create("faulty", { model: "a" }, "Be brief.\n".repeat(100));
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    await on.open("/default/presets/faulty/edit?from=1");
    await on.page.locator(".cm-content").focus();
    await on.page.keyboard.press("Control+a");
    await on.page.keyboard.insertText('{\n  "model": "a",\n  "temperature": 9\n}');
    await press(on, "Review the changes");
    await press(on, "Save new version");
    await press(on, "Show the fault in the editor", "link");
    await on.page.locator(".cm-lint-marker-error").waitFor();
    await expect.poll(() => on.page.locator(".cm-activeLine").innerText()).toContain("temperature");
    const line = await on.page.locator(".cm-activeLine").boundingBox();
    expect((line?.y ?? 1e6) + (line?.height ?? 0)).toBeLessThan(800);
    await on.page.keyboard.press("Control+Home");
    await press(on, /temperature must be at most 2/);
    await expect.poll(() => on.page.locator(".cm-activeLine").innerText()).toContain("temperature");
    expect(await on.faults()).toEqual([]);
  });

  it("reaches Skip to content with the first Tab on a shared link", { timeout: journeyTimeoutMs }, async () => {
    const slug = freshName("shared");
    for (const prompt of ["Be brief.", "Be kind."]) await create(slug, { model: "a" }, prompt);
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    for (const [path, content] of [
      [slug, "Serves v2"],
      [`${slug}/compare/1...2`, "1 change"],
    ] as const) {
      await on.open(`/default/presets/${path}`);
      await on.page.getByText(content).waitFor();
      await on.page.keyboard.press("Tab");
      expect(await on.page.evaluate("document.activeElement.textContent")).toBe("Skip to content");
    }
  });

  it("finds everything with Ctrl-K, and can switch off single-key shortcuts", {
    timeout: journeyTimeoutMs,
  }, async () => {
    const slug = freshName("findable");
    await create(slug, { model: "a" }, "Be brief.");
    await create("newer", { model: "a" }, "Be brief.");
    await administrator(underTest.stack).call("POST", "/workspaces", { name: "Équipe", slug: "equipe-2" });
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    await page.keyboard.press("Control+k");
    // Accents do not matter, as in every search of names.
    await page.keyboard.type("equipe");
    await page.getByRole("option", { name: "Équipe" }).waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.type(slug);
    await page.getByRole("option", { name: slug }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/presets/${slug}`);
    await page.keyboard.press("?");
    await page.getByLabel(/Use single-key shortcuts/).uncheck();
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.waitForTimeout(200);
    expect(page.url()).toContain(`/presets/${slug}`);
    expect(await on.faults()).toEqual([]);
  });

  it("leaves keys to an input method while it composes a word", { timeout: journeyTimeoutMs }, async () => {
    await create("composed", { model: "a" }, "Be brief.");
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    const session = await on.context.newCDPSession(page);
    /** The key as an input method sends it while there is a word that is not confirmed yet. */
    const pressComposing = async (key: string): Promise<void> => {
      await session.send("Input.imeSetComposition", { text: "こ", selectionStart: 1, selectionEnd: 1 });
      await session.send("Input.dispatchKeyEvent", { type: "rawKeyDown", key, windowsVirtualKeyCode: 229 });
    };
    const focused = () => page.evaluate("document.activeElement.getAttribute('aria-label')");
    await page.getByRole("link", { name: "composed" }).waitFor();
    await page.keyboard.press("/");
    await pressComposing("ArrowDown");
    expect(await focused()).toBe("Search presets by name, slug or description");

    await on.open("/default/activity");
    await page.getByRole("heading", { name: "Activity" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.locator(".palette-choice").first().waitFor();
    await pressComposing("Enter");
    expect(await focused()).toBe("Search presets and commands");
    expect(page.url()).toContain("/activity");
  });

  it("leaves Ctrl-K to text fields on a Mac", { timeout: journeyTimeoutMs }, async () => {
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    await page.addInitScript(() => Object.defineProperty(navigator, "platform", { value: "MacIntel" }));
    await on.open("/default/presets/~new");
    await page.getByLabel("System prompt").press("Control+k");
    await page.waitForTimeout(200);
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.getByLabel("System prompt").press("Meta+k");
    await page.getByRole("dialog").waitFor();
  });

  it("hears each page and each notice once", { timeout: journeyTimeoutMs }, async () => {
    const slug = freshName("heard");
    for (const model of ["a", "b"]) await create(slug, { model }, "Be brief.");
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    await page
      .getByRole("status")
      .getByText(/\d preset/)
      .waitFor();
    await page.keyboard.press("c");
    // The focus has it read out.
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("New preset");
    expect(await page.getByRole("status").filter({ hasText: "New preset" }).count()).toBe(0);
    await on.open(`/default/presets/${slug}?v=1`);
    await press(on, "Roll back to v1");
    // Otherwise, the notices that are there already would be read out again together with a new one.
    const notices = page.getByRole("region", { name: "Notifications" }).getByRole("status");
    await notices.getByText(`${slug} now serves v1.`).waitFor();
    expect(await notices.getAttribute("aria-atomic")).toBe("false");
  });

  it("finds the actions for the current preset with Ctrl-K", { timeout: journeyTimeoutMs }, async () => {
    const slug = freshName("commanded");
    for (const model of ["a", "b"]) await create(slug, { model }, "Be brief.");
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    await on.open(`/default/presets/${slug}`);
    await page.getByText("Serves v2").waitFor();
    const command = async (words: string): Promise<void> => {
      await page.keyboard.press("Control+k");
      await page.keyboard.type(words);
      await page.getByRole("group", { name: "On this page" }).waitFor();
      await page.keyboard.press("Enter");
    };
    await page.keyboard.press("Control+k");
    const offered = page.getByRole("group", { name: "On this page" }).getByRole("option");
    await offered.first().waitFor();
    expect(await offered.locator(".cut:first-child").allInnerTexts()).toEqual([
      "Try it",
      "Edit v2",
      "Copy the model name",
      "Copy the curl sample",
      "Rename or describe …",
      "Disable …",
      "Archive …",
      "Duplicate",
      "Compare v1 with v2",
      "Roll back to v1",
    ]);
    expect(await on.axeViolations()).toEqual([]);
    await page.keyboard.press("Escape");

    await command("model name");
    await page.getByText("Copied the model name.", { exact: true }).last().waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(`@preset/${slug}`);
    await command("roll back");
    await page.getByText("Serves v1", { exact: true }).waitFor();
    await command("disable");
    await page.getByRole("radio", { name: /^Disabled/, checked: true }).waitFor();
    await press(on, "Save");
    await page.getByText("Disabled: requests that name it are refused.").waitFor();
    await command("compare");
    await page.waitForURL(`**/presets/${slug}/compare/1...2`);
    // It is not available here.
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: slug }).waitFor();
    expect(await offered.count()).toBe(0);
    expect(await on.faults()).toEqual([]);
  });

  it("creates a key, adds a member and makes a workspace with Ctrl-K", { timeout: journeyTimeoutMs }, async () => {
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    for (const [path, ready, command, title] of [
      ["keys", "Create a key", "create a key", "Create a key"],
      ["team", "Create a workspace", "add a member", "Add a member"],
      ["team", "Create a workspace", "create a work", "Create a workspace"],
    ] as const) {
      await on.open(`/default/${path}`);
      await page.getByRole("button", { name: ready }).waitFor();
      await page.keyboard.press("Control+k");
      await page.keyboard.type(command);
      await page.getByRole("option", { name: title }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog", { name: title }).waitFor();
      // What is typed next goes into its first field.
      await page.keyboard.type("typed");
      expect(await page.getByRole("dialog").getByRole("textbox").first().inputValue()).toBe("typed");
    }
    expect(await on.faults()).toEqual([]);
  });

  it("goes on with the list where it was left", { timeout: journeyTimeoutMs }, async () => {
    for (let index = 0; index < 4; index++) await create(freshName("listed"), { model: "a" }, "Be brief.");
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    await page.locator(".row-link").nth(3).waitFor();
    const focused = () => page.evaluate("document.activeElement.getAttribute('href')");
    for (let index = 0; index < 3; index++) await page.keyboard.press("j");
    const third = await focused();
    expect(third).toMatch(/listed-/);
    await page.keyboard.press("Enter");
    await page.getByText("Serves v1").waitFor();
    await page.goBack();
    await expect.poll(focused).toBe(third);
    await page.keyboard.press("j");
    expect(await focused()).toBe(await page.locator(".row-link").nth(3).getAttribute("href"));
    expect(await on.faults()).toEqual([]);
  });

  it("moves through the list, edits and tries presets with single keys", {
    timeout: journeyTimeoutMs,
  }, async () => {
    const slug = freshName("walked");
    for (const name of ["third", "second", "first"]) await create(`${slug}-${name}`, { model: "a" }, "Be brief.");
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    const focused = () => page.evaluate("document.activeElement.textContent");
    // Keys do nothing before the screen is there.
    await page.getByRole("link", { name: `${slug}-first` }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type(slug);
    await page.getByText("1–3 of 3").waitFor();
    await page.keyboard.press("ArrowDown");
    expect(await focused()).toBe(`${slug}-first`);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("j");
    // There is none after the last.
    await page.keyboard.press("j");
    expect(await focused()).toBe(`${slug}-third`);
    await page.keyboard.press("k");
    await page.keyboard.press("Enter");
    await page.getByText("Serves v1").waitFor();
    await page.keyboard.press("t");
    await page.waitForURL(`**/presets/${slug}-second/try`);
    await page.goBack();
    await page.getByText("Serves v1").waitFor();
    await page.keyboard.press("e");
    await page.waitForURL(`**/presets/${slug}-second/edit?from=1`);
    expect(await on.faults()).toEqual([]);
  });

  it("loses nothing that was typed into a form when the session ends", { timeout: journeyTimeoutMs }, async () => {
    const slug = freshName("interrupted");
    await create(slug, { model: "a" }, "Be brief.");
    const on = await underTest.newPage({ key: underTest.stack.managementKey });
    const { page } = on;
    const typeAndLoseSession = async (): Promise<void> => {
      await on.open(`/default/presets/${slug}`);
      await press(on, "Settings");
      await page.getByLabel("Description").fill("Typed before the session ended");
      await on.context.clearCookies();
      await press(on, "Save");
      await page.getByText("Your session has ended.").waitFor();
      expect(await page.getByText("Serves v1").isVisible()).toBe(false);
      expect(await page.title()).toBe("Sign in · Setpoint");
      for (let presses = 0; presses < 3; presses++) await page.keyboard.press("Escape");
      expect(await page.getByLabel("Description").isVisible()).toBe(false);
    };
    await typeAndLoseSession();
    await page.getByLabel("Key", { exact: true }).fill(underTest.stack.managementKey);
    await page.keyboard.press("Enter");
    await page.getByText("Your session had ended. Try again.").waitFor();
    expect(await page.title()).toMatch(`${slug} · `);
    // The focus is on Save.
    await page.keyboard.press("Enter");
    await page.getByText("The settings were saved.").waitFor();
    await page.locator("main").getByText("Typed before the session ended").waitFor();

    // Another key may be somebody else's.
    await typeAndLoseSession();
    await page.getByLabel("Key", { exact: true }).fill(underTest.stack.apiKey);
    await page.keyboard.press("Enter");
    await page.getByText("Serves v1").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  it("signs out, and returns to the same page after signing in", { timeout: journeyTimeoutMs }, async () => {
    const on = await underTest.newPage({ key: underTest.stack.apiKey });
    const { page } = on;
    await on.open("/default/presets?status=active");
    await press(on, "Account");
    await press(on, "Sign out");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage })")).not.toContain("sk-sp-");
    await page.keyboard.insertText("sk-sp-v1-nonsense");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Key", { exact: true }).fill(underTest.stack.apiKey);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Presets" }).waitFor();
    expect(page.url()).toContain("/default/presets?status=active");
  });
});
