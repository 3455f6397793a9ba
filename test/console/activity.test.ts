import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { administrator } from "../support/administration-rest.ts";
import { findBrowser } from "../support/browser.ts";
import { type ConsolePage, type ConsoleUnderTest, openConsole } from "../support/console-browser.ts";
import { freshName } from "../support/fresh-name.ts";

const browserPath = await findBrowser();

describe.skipIf(!browserPath)("the activity screen", { timeout: 180_000 }, () => {
  let underTest: ConsoleUnderTest;
  let on: ConsolePage;

  beforeAll(async () => {
    underTest = await openConsole(browserPath ?? "");
    const { stack } = underTest;
    // Both logs in turn, more than two pages of them.
    for (let count = 0; count < 60; count++) {
      await stack.create(`preset-${count}`);
      await administrator(stack).makeMember(`person-${count}@example.com`);
    }
    on = await underTest.newPage({ key: stack.managementKey });
  }, 180_000);

  afterAll(() => underTest?.close());

  const entries = () => on.page.locator(".activity-table li");

  async function open(query = ""): Promise<void> {
    await on.open(`/default/activity${query}`);
    await on.page.getByText(/, newest first$/).waitFor();
  }

  /** The targets of the entries, newest first. */
  async function namesOnPage(): Promise<string[]> {
    const texts = await entries().locator("p").allInnerTexts();
    return texts.map((text) => /(preset|person)-\d+/.exec(text)?.[0] ?? text);
  }

  it("lists every change of both logs once, newest first, across pages and back", async () => {
    await open();
    const { page } = on;
    const seen = await namesOnPage();
    const first = [...seen];
    while ((await page.getByRole("link", { name: "Older" }).count()) > 0) {
      const before = page.url();
      await page.getByRole("link", { name: "Older" }).press("Enter");
      await page.waitForURL((url) => url.href !== before);
      await page.locator('.activity-table[aria-busy="false"]').waitFor();
      seen.push(...(await namesOnPage()));
    }
    const named = seen.filter((name) => /^(preset|person)-/.test(name));
    const expected = Array.from({ length: 60 }, (_, count) => [`person-${59 - count}`, `preset-${59 - count}`]).flat();
    expect(named).toEqual(expected);
    for (const name of ["Newer", "Newest"]) {
      await page.getByRole("link", { name, exact: true }).press("Enter");
      await page.locator('.activity-table[aria-busy="false"]').waitFor();
    }
    await expect.poll(namesOnPage).toEqual(first);
    expect(await on.faults()).toEqual([]);
  });

  it("starts each page at its top, and restores the scroll position on Back", async () => {
    await open();
    const { page } = on;
    const older = page.getByRole("link", { name: "Older" });
    await older.scrollIntoViewIfNeeded();
    const left = await page.evaluate("scrollY");
    expect(left).toBeGreaterThan(0);
    await older.press("Enter");
    await page.waitForURL(/at=/);
    await expect.poll(() => page.evaluate("scrollY")).toBe(0);
    await page.locator('.activity-table[aria-busy="false"]').waitFor();
    expect(await page.evaluate("scrollY")).toBe(0);
    await page.goBack();
    await expect.poll(() => page.evaluate("scrollY")).toBe(left);
  });

  it("shows the same changes at the same URL after more were made", async () => {
    await open();
    const href = (await on.page.getByRole("link", { name: "Older" }).getAttribute("href")) ?? "";
    const query = new URL(href, underTest.stack.baseUrl).search;
    await open(query);
    const before = await namesOnPage();
    await underTest.stack.create("made-meanwhile");
    await administrator(underTest.stack).makeMember(`${freshName("meanwhile")}@example.com`);
    await open(query);
    expect(await namesOnPage()).toEqual(before);
    await on.page.getByText("53–102 of").waitFor();
  });

  it("shows only what changed, from what to what", async () => {
    const { stack } = underTest;
    const { data } = await administrator(stack).makeKey({ name: "logged" });
    await administrator(stack).call("PATCH", `/keys/${data.id}`, { permissions: ["presets:read", "inference"] });
    await administrator(stack).call("POST", `/keys/${data.id}/rotate`, { grace_seconds: 3_600 });
    await stack.create("rolled", { model: "a", messages: [] });
    await stack.create("rolled", { model: "b", messages: [] });
    await stack.request("PATCH", "/presets/rolled", { key: stack.apiKey, body: { designated_version: 1 } });
    await open();
    const [rollback] = await entries().all();
    expect(await rollback?.locator("del").innerText()).toBe("v2");
    expect(await rollback?.locator("ins").innerText()).toBe("v1");
    const rotation = entries().filter({ hasText: "rotated the key logged" });
    expect(await rotation.innerText()).toMatch(/old secret works until: \w{3} \d+, \d{4}/);
    const change = entries().filter({ hasText: "changed the key logged" });
    expect(await change.locator("del").allInnerTexts()).toEqual(["− presets:write"]);
    expect(await change.locator("ins").count()).toBe(0);
    await on.page.getByRole("link", { name: "Compare v2 of rolled with v1" }).press("Enter");
    await on.page.waitForURL(/presets\/rolled\/compare\/2\.\.\.1$/);
  });

  it("is grouped by day", async () => {
    await open();
    const day = on.page.getByRole("heading", { level: 2 }).first();
    expect(await day.innerText()).toMatch(/^Today, \w+day, \w+ \d+$/);
  });

  it("keeps the scroll position of activity and presets after Back and after a reload", async () => {
    const { page } = on;
    for (const [section, link] of [
      ["activity", ".activity-entry .target"],
      ["presets", ".row-link"],
    ] as const) {
      await on.open(`/default/${section}`);
      await page.locator(link).first().waitFor();
      // Neither the test nor the browser scrolls to what is clicked.
      await page.evaluate(`scrollTo(0, 700); document.querySelector('.nav a[href$="keys"]').click()`);
      await page.getByRole("heading", { name: "Keys" }).waitFor();
      expect(await page.evaluate("scrollY"), section).toBe(0);
      for (const comeBack of [() => page.goBack(), () => page.reload()]) {
        await comeBack();
        await page.locator(link).first().waitFor();
        await page.waitForLoadState("networkidle");
        await expect.poll(() => page.evaluate("scrollY"), { message: section }).toBe(700);
      }
    }
    expect(await on.faults()).toEqual([]);
  });

  it("filters by action, user and target, each in the URL", async () => {
    await open("?log=organization");
    const { page } = on;
    await page.getByLabel("What", { exact: true }).selectOption("Key changed");
    await page.waitForURL(/action=key_updated/);
    await page.getByText("1–1 of 1, newest first").waitFor();
    await page.getByRole("link", { name: "logged" }).press("Enter");
    await page.waitForURL(/log=organization&target=/);
    await page.getByText("1–3 of 3, newest first").waitFor();
    await page.getByRole("link", { name: "Show everything" }).press("Enter");
    const { json } = await administrator(underTest.stack).call<{ id: string }[]>("GET", "/organization/members");
    const nobody = json.data.at(-1)?.id ?? "";
    await page.getByLabel("Who", { exact: true }).selectOption(nobody);
    await page.waitForURL((url) => url.searchParams.get("user") === nobody);
    await page.getByText("No change matches this filter.").waitFor();
    expect(await on.axeViolations()).toEqual([]);
    expect(await on.faults()).toEqual([]);
  });

  it("filters both logs at once, and hides a log that a filter does not apply to", async () => {
    const { stack } = underTest;
    const totalOf = async (path: string) =>
      (await stack.request<unknown[]>("GET", path, { key: stack.managementKey })).json.total_count;
    const [presets, others] = await Promise.all([
      totalOf(`/changes?user_id=${stack.userId}`),
      totalOf(`/organization/changes?user_id=${stack.userId}`),
    ]);
    expect(Math.min(presets, others)).toBeGreaterThan(60);
    await open();
    const { page } = on;
    await page.getByLabel("Who", { exact: true }).selectOption(stack.userId);
    await page.waitForURL((url) => url.searchParams.get("user") === stack.userId);
    await page.getByText(`1–50 of ${presets + others}, newest first`).waitFor();
    expect(new Set((await namesOnPage()).map((name) => name.split("-")[0]))).toContain("person");
    await page.getByLabel("What", { exact: true }).selectOption("Preset changed");
    await page.getByText("1–1 of 1, newest first").waitFor();
    expect(await entries().locator("p").allInnerTexts()).toEqual([expect.stringContaining("rolled back rolled")]);
    await page.getByLabel("What", { exact: true }).selectOption("Member added");
    await page.getByText(/^1–50 of 6\d, newest first$/).waitFor();
    await page.getByRole("navigation", { name: "Log" }).getByRole("link", { name: "Presets" }).press("Enter");
    // The user filter applies to both logs, the action filter to one.
    await page.waitForURL(`**/activity?log=presets&user=${stack.userId}`);
    await page.getByText(`1–50 of ${presets}, newest first`).waitFor();
    await open("?log=presets&action=version_created");
    expect(await page.getByLabel("What", { exact: true }).inputValue()).toBe("version_created");
    await page.getByText("1–1 of 1, newest first").waitFor();
    expect(await on.axeViolations()).toEqual([]);
    expect(await on.faults()).toEqual([]);
  });

  it("shows an API key the changes of its presets, and says what it cannot see", async () => {
    const other = await underTest.newPage({ key: underTest.stack.apiKey });
    await other.open("/default/activity");
    await other.page.getByText("This needs a management key").waitFor();
    await other.page.getByText("made-meanwhile").first().waitFor();
    expect(await other.page.getByText("person-59@example.com").count()).toBe(0);
    await other.page.getByLabel("Who", { exact: true }).selectOption(underTest.stack.userId);
    await other.page.getByLabel("What", { exact: true }).selectOption("Preset changed");
    await other.page.getByText("1–1 of 1, newest first").waitFor();
    expect(await other.axeViolations()).toEqual([]);
    expect(await other.faults()).toEqual([]);
    await other.context.close();
  });

  it("names a few of many members added to a workspace, and all on request", async () => {
    const { call, makeWorkspace } = administrator(underTest.stack);
    const { id, slug } = await makeWorkspace(freshName("crowd"));
    const { json } = await call<{ id: string; email: string }[]>("GET", "/organization/members?limit=30");
    const people = json.data.filter(({ email }) => email.startsWith("person-"));
    await call("POST", `/workspaces/${slug}/members/add`, { user_ids: people.map((each) => each.id) });
    await open(`?log=organization&target=${id}&action=workspace_members_added`);
    const entry = entries().first();
    expect(await entry.locator("ins").count()).toBeLessThan(12);
    await entry.getByRole("button", { name: /^\d+ more$/ }).press("Enter");
    await expect.poll(() => entry.locator("ins").count()).toBe(people.length);
    expect(await entry.locator("li").innerText()).toMatch(/^members: person-\d+@example\.com, person-/);
    const [one, other] = people.map((each) => each.id);
    await call("POST", `/workspaces/${slug}/members/remove`, { user_ids: [one, other] });
    await open(`?log=organization&target=${id}&action=workspace_members_removed`);
    expect(await entry.locator("li").innerText()).toMatch(/^members: − person-\S+, − person-\S+$/);
    expect(await on.axeViolations()).toEqual([]);
    expect(await on.faults()).toEqual([]);
  });

  it("describes simple changes of a key or preset in words", async () => {
    const { stack } = underTest;
    const { data } = await administrator(stack).makeKey({ name: "worded" });
    const bodies = [
      { disabled: true },
      { disabled: false },
      { disabled: true, permissions: ["presets:read"] },
      { name: "reworded" },
    ];
    for (const body of bodies) await administrator(stack).call("PATCH", `/keys/${data.id}`, body);
    await open(`?log=organization&target=${data.id}`);
    const texts = async () =>
      (await on.page.locator(".activity-entry > .two-lines").allInnerTexts()).map((text) =>
        text.replaceAll(/\s+/g, " ").trim(),
      );
    const who = await on.page.locator(".activity-entry strong").first().innerText();
    expect(await texts()).toEqual([
      `${who} renamed the key reworded name: worded → to reworded`,
      expect.stringMatching(`^${who} changed the key worded .*state: enabled → to disabled`),
      `${who} enabled the key worded`,
      `${who} disabled the key worded`,
      expect.stringContaining(`${who} created the key worded kind: API key`),
    ]);

    await stack.create("worded", { model: "a", messages: [] });
    await stack.create("worded", { model: "b", messages: [] });
    const updates = [
      { status: "disabled" },
      { status: "active" },
      { status: "archived" },
      { status: "active" },
      { designated_version: 1 },
      { designated_version: 2 },
    ];
    for (const body of updates) await stack.request("PATCH", "/presets/worded", { key: stack.apiKey, body });
    await open("?log=presets&action=preset_updated");
    const done = (await texts()).slice(0, 6).map((text) => text.replace(`${who} `, "").replaceAll(/ worded.*/g, ""));
    const words = ["disabled the preset", "enabled the preset", "archived the preset", "restored the preset"];
    expect(done).toEqual([...words, "rolled back", "rolled forward"].reverse());

    await on.open("/default/presets/worded");
    await on.page.getByText("Serves v2").waitFor();
    const history = await on.page.locator(".change-words").allInnerTexts();
    expect(history.slice(2)).toEqual(["Restored", "Archived", "Enabled", "Disabled"]);
    expect(await on.faults()).toEqual([]);
  });

  it("jumps to the changes up to a day, and pages from there", async () => {
    const { stack } = underTest;
    const [[last]] = await stack.organizationPool.query<({ readonly at: Date } & RowDataPacket)[]>(
      "SELECT created_at AS at FROM organization_changes WHERE target_name = 'person-39@example.com'",
    );
    const aWeekAgo = "SET created_at = created_at - INTERVAL 7 DAY WHERE created_at <= ?";
    await stack.organizationPool.query(`UPDATE organization_changes ${aWeekAgo}`, [last?.at]);
    await stack.presetPool.query(`UPDATE preset_changes ${aWeekAgo}`, [last?.at]);
    const { page } = on;
    await open();
    const day = await page.evaluate(
      () => new Intl.DateTimeFormat("sv").format(Date.now() - 3 * 86_400_000), // As in an address: 2026-11-17.
    );
    await page.getByLabel("Until").fill(day);
    await entries().first().getByText("person-39").waitFor();
    const seen = await namesOnPage();
    await page.getByRole("link", { name: "Older" }).press("Enter");
    await page.getByText(/^51–/).waitFor();
    await page.locator('.activity-table[aria-busy="false"]').waitFor();
    seen.push(...(await namesOnPage()));
    const expected = Array.from({ length: 40 }, (_, count) => [`person-${39 - count}`, `preset-${39 - count}`]).flat();
    expect(seen.filter((name) => /^(preset|person)-/.test(name))).toEqual(expected);
    await page.getByRole("link", { name: "Newest", exact: true }).press("Enter");
    await page.getByText(/^1–50 of/).waitFor();
    expect(await page.getByLabel("Until").inputValue()).toBe(day);
    expect(await on.axeViolations()).toEqual([]);
    await on.open("/default/activity?until=2020-01-01");
    await page.getByText("No change matches this filter.").waitFor();
    await page.getByRole("link", { name: "Show everything" }).click();
    await page.getByText(/^1–50 of/).waitFor();
    expect(await on.faults()).toEqual([]);
  });

  it("separates permissions with commas, and says when a key without an expiry got one", async () => {
    const { makeKey, call } = administrator(underTest.stack);
    const { data } = await makeKey({ name: "listed" });
    const expires_at = new Date(Date.now() + 86_400_000).toISOString();
    await call("PATCH", `/keys/${data.id}`, { permissions: ["inference"], expires_at });
    await call("PATCH", `/keys/${data.id}`, { permissions: ["presets:read", "presets:write"], expires_at: null });
    await open(`?log=organization&target=${data.id}`);
    const [second, first, made] = (await on.page.locator(".field-changes").allInnerTexts()).map((text) =>
      text.replaceAll(/\s+/g, " "),
    );
    expect(made).toContain("permissions: presets:read, presets:write, inference");
    expect(made).not.toContain("expires");
    expect(first).toContain("permissions: − presets:read, − presets:write");
    expect(first).toMatch(/expires: never → to \w{3} \d+, \d{4}/);
    expect(second).toContain("permissions: − inference, + presets:read, + presets:write");
    expect(second).toMatch(/expires: .* → to never$/);
  });
});
