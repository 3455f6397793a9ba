import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { administrator } from "../support/administration-rest.ts";
import { findBrowser } from "../support/browser.ts";
import { type ConsolePage, type ConsoleUnderTest, openConsole } from "../support/console-browser.ts";

const browserPath = await findBrowser();

let underTest: ConsoleUnderTest;

describe.skipIf(!browserPath)("the layout of the console", { timeout: 180_000 }, () => {
  beforeAll(async () => {
    underTest = await openConsole(browserPath ?? "");
    const { stack } = underTest;
    for (const content of ["Be brief.", "Be kind."]) {
      const tools = Array.from({ length: 9 }, () => ({ type: "function", function: { name: "find" } }));
      await stack.create("support-bot", { model: "a", tools, messages: [{ role: "system", content }] });
    }
    for (let index = 0; index < 12; index++) await administrator(stack).makeKey({ name: `Key ${index}` });
  }, 180_000);

  afterAll(() => underTest?.close());

  const signedIn = (look: object): Promise<ConsolePage> =>
    underTest.newPage({ key: underTest.stack.managementKey, ...look });

  /** Touch targets smaller than a finger. A link in a sentence is as high as its line. */
  const smallTargets = (on: ConsolePage): Promise<string[]> =>
    on.page.locator("a[href], button, select, summary, input, textarea, [role=option]").evaluateAll((targets) =>
      targets.flatMap((target) => {
        if (!target.checkVisibility() || target.matches("p a, .skip")) return [];
        // The link to a version covers its entry in the history.
        const around = target.matches(".version-link") ? ".change" : "label, tr.is-link";
        const { width, height } = (target.closest(around) ?? target).getBoundingClientRect();
        const isSmall = Math.min(width, height) < 43.9;
        return isSmall ? [`${target.outerHTML.slice(0, 120)}: ${width} x ${height}`] : [];
      }),
    );

  it("has large enough touch targets on a phone, and fields that do not trigger zoom", async () => {
    const on = await signedIn({ width: 390, height: 844, isTouched: true });
    const { page } = on;
    const open = async (path: string, complete: string, click?: string | RegExp) => {
      await on.open(`/default/${path}`);
      await page.locator(complete).first().waitFor();
      if (click) await page.getByRole("button", { name: click }).first().click();
      expect(await smallTargets(on), `${path} ${click ?? ""}`).toEqual([]);
      const sizes = await page
        .locator("input:not([type=checkbox], [type=radio]), select, textarea, .cm-content")
        .evaluateAll((fields) =>
          fields.map((field) => Number.parseFloat(field.ownerDocument.defaultView.getComputedStyle(field).fontSize)),
        );
      expect(Math.min(16, ...sizes)).toBe(16);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    };
    await open("presets", "text=support-bot");
    await open("presets", "text=support-bot", "Search and commands");
    await open("presets", "text=support-bot", "Account");
    await open("presets/support-bot", "text=Serves v2");
    await open("presets/support-bot?v=1", "text=Roll back to v1");
    await open("presets/support-bot", "text=Serves v2", "Settings");
    await open("presets/support-bot/compare/1...2", ".diff");
    await open("presets/support-bot/edit?from=2", ".cm-content");
    await open("presets/support-bot/try", "text=chat/completions");
    await open("presets/~new", ".cm-content");
    await open("activity", ".activity-table .two-lines");
    await open("keys", ".keys-table .two-lines");
    await open("keys", ".keys-table .two-lines", /^Actions for/);
    await open("keys", ".keys-table .two-lines", "Create a key");
    await open("team", "#workspaces-title");
    await open("team", "#workspaces-title", "Add a member");
  });

  it("opens a menu beside its button and not over it, even at the bottom of the page", async () => {
    const on = await signedIn({ width: 390, height: 844, isTouched: true });
    const { page } = on;
    await on.open("/default/keys");
    const buttons = page.getByRole("button", { name: /^Actions for/ });
    await buttons.last().waitFor();
    for (let index = 0; index < (await buttons.count()); index++) {
      const button = buttons.nth(index);
      await button.scrollIntoViewIfNeeded();
      await button.tap();
      const [menu, box] = [await page.locator(".menu:popover-open").boundingBox(), await button.boundingBox()];
      if (!menu || !box) throw new Error("There is no menu.");
      expect(menu.y >= box.y + box.height || menu.y + menu.height <= box.y).toBe(true);
      await page.keyboard.press("Escape");
    }
  });

  it("keeps the comparison's step buttons reachable and uncovered on a phone", async () => {
    for (const word of ["brief", "kind"]) {
      const lines = Array.from({ length: 90 }, (_, index) => (index % 30 === 7 ? `Be ${word}.` : `Line ${index}`));
      await underTest.stack.create("stepped", {
        model: "a",
        messages: [{ role: "system", content: lines.join("\n") }],
      });
    }
    const on = await signedIn({ width: 390, height: 844, isTouched: true });
    const { page } = on;
    await on.open("/default/presets/stepped/compare/2...1");
    const next = page.getByRole("button", { name: "Next change" });
    await page.getByText("3 changes").waitFor();
    for (const place of ["1 of 3", "2 of 3", "3 of 3", "1 of 3"]) {
      await next.tap();
      await page.getByText(place, { exact: true }).waitFor();
      const box = await page.locator(":focus").boundingBox();
      expect(box?.y).toBeGreaterThan(0);
      expect((box?.y ?? 1e6) + (box?.height ?? 0)).toBeLessThan((await next.boundingBox())?.y ?? 0);
    }
    await page.getByRole("button", { name: "Roll back to v1" }).tap();
    await page.getByText("stepped now serves v1.").waitFor();
    await next.tap();
    await page.getByText("2 of 3", { exact: true }).waitFor();
    // The notice with Undo stays on the next screen as well.
    await page.getByRole("link", { name: "stepped" }).tap();
    await page.getByRole("button", { name: /^Edit v/ }).tap();
    await page.locator("#prompt").fill("Be both.");
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await page.getByRole("button", { name: "Review the changes" }).tap();
    await page.getByRole("button", { name: "Save new version" }).waitFor();
    expect(await on.axeViolations()).toEqual([]);
  });

  it("keeps dialog buttons visible on a phone in landscape", async () => {
    const on = await signedIn({ width: 844, height: 390, isTouched: true });
    const { page } = on;
    const isSeen = async (path: string, button: string, action: string) => {
      await on.open(`/default/${path}`);
      await page.getByRole("button", { name: button }).click();
      const box = await page.getByRole("dialog").getByRole("button", { name: action, exact: true }).boundingBox();
      expect((box?.y ?? 1e6) + (box?.height ?? 0)).toBeLessThanOrEqual(390);
    };
    await isSeen("keys", "Create a key", "Create");
    await isSeen("team", "Add a member", "Add member");
    await isSeen("presets/support-bot", "Settings", "Save");
    // Focused elements are not below them.
    const status = page.getByRole("radio", { name: /^Archived/ });
    await status.focus();
    const [field, save] = [await status.boundingBox(), await page.getByRole("button", { name: "Save" }).boundingBox()];
    expect((field?.y ?? 1e6) + (field?.height ?? 0)).toBeLessThanOrEqual(save?.y ?? 0);
  });

  const lettersOf = ({ page }: ConsolePage) =>
    page.evaluate("[...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family)");

  it("uses the same fonts on every machine", async () => {
    const on = await signedIn({});
    await on.open("/default/presets/support-bot");
    await on.page.getByText("Serves v2").waitFor();
    await expect.poll(() => lettersOf(on)).toEqual(["Inter Variable", "Geist Mono Variable"]);
    expect(await on.faults()).toEqual([]);
  });

  it("does not shift when fonts load late", async () => {
    const on = await signedIn({});
    let letThrough = () => {};
    const held = new Promise<void>((resolve) => {
      letThrough = resolve;
    });
    await on.page.route("**/assets/*.woff2", async (route) => {
      await held;
      await route.continue();
    });
    await on.page.goto(`${underTest.stack.baseUrl}/console/default/presets/support-bot`, { waitUntil: "commit" });
    await on.page.getByText("Serves v2").waitFor();
    expect(await lettersOf(on)).toEqual([]);
    letThrough();
    await expect.poll(() => lettersOf(on)).toEqual(["Inter Variable", "Geist Mono Variable"]);
    await on.page.waitForTimeout(500);
    expect(await on.shifts()).toEqual([]);
  });

  it.each([
    { width: 390, isTouched: true },
    { width: 1280, isTouched: false },
  ])("shows a preset where its placeholder was, %o", async (look) => {
    const on = await signedIn(look);
    const { page } = on;
    let letThrough = () => {};
    const held = new Promise<void>((resolve) => {
      letThrough = resolve;
    });
    await page.route("**/api/v1/presets/support-bot?**", async (route) => {
      await held;
      await route.continue();
    });
    const tops = () =>
      page
        .locator("h1, .serving-bar, .preset-columns")
        .evaluateAll((parts) => parts.map((part) => Math.round(part.getBoundingClientRect().y)));
    await on.open("/default/presets/support-bot");
    await page.locator(".preset-columns .skeleton").first().waitFor();
    const before = await tops();
    letThrough();
    await page.getByText("Serves v2").waitFor();
    expect(await tops()).toEqual(before);
    expect(await on.shifts()).toEqual([]);
    await on.context.close();
  });

  it("shows which version serves beside its number, on a phone as well", async () => {
    for (const look of [{ width: 1280 }, { width: 390, isTouched: true }]) {
      const on = await signedIn(look);
      await on.open("/default/presets/support-bot");
      const entry = on.page.locator(".change", { hasText: "Serving" });
      await entry.waitFor();
      const gap = await entry.evaluate((each) => {
        const range = each.ownerDocument.createRange();
        range.selectNodeContents(each.querySelector(".version-link") ?? each);
        const { right } = range.getBoundingClientRect();
        return (each.querySelector(".badge")?.getBoundingClientRect().left ?? Number.NaN) - right;
      });
      expect(gap, `${look.width}`).toBeLessThan(9);
      await on.context.close();
    }
  });

  it.each([390, 768, 1280])("does not shift when names of people load late, %i px wide", async (width) => {
    const { makeMember, makeKey, call } = administrator(underTest.stack);
    const creator_user_id = await makeMember(`leopoldine-${width}@example.com`);
    const name = { first_name: "Leopoldine Wilhelmine", last_name: "von Hohenstaufen-Württemberg-Lichtenstein" };
    await call("PATCH", `/organization/members/${creator_user_id}`, name);
    const { key } = await makeKey({ name: `Named late ${width}`, creator_user_id });
    const slug = `named-late-${width}`;
    for (const temperature of [0, 1])
      await underTest.stack.create(slug, { model: "a", temperature, messages: [] }, { key });
    const on = await signedIn({ width });
    for (const [path, complete] of [
      [`presets/${slug}`, "text=Serves v2"],
      [`presets/${slug}/compare/1...2`, ".diff"],
      ["keys", `text=Named late ${width}`],
      ["activity", ".page"],
    ] as const) {
      let letThrough = () => {};
      const held = new Promise<void>((resolve) => {
        letThrough = resolve;
      });
      await on.page.route("**/organization/members?**", async (route) => {
        await held;
        await route.continue();
      });
      await on.open(`/default/${path}`);
      await on.page.locator(complete).first().waitFor();
      await on.page.waitForTimeout(300);
      letThrough();
      await on.page.getByText("Leopoldine").locator("visible=true").first().waitFor();
      expect(await on.shifts(), path).toEqual([]);
      await on.page.unrouteAll({ behavior: "wait" });
    }
    await on.context.close();
  });

  it.each([390, 1280])(
    "cuts off the end of a name, not its beginning, in scripts from right to left, %i px wide",
    async (width) => {
      const { stack } = underTest;
      const { makeMember, makeKey, makeWorkspace, call } = administrator(stack);
      const first = "ראשון";
      const name = `${first}${" ועוד מילה".repeat(9)}`;
      const slug = `from-right-${width}`;
      const creator_user_id = await makeMember(`${slug}@example.com`);
      await call("PATCH", `/organization/members/${creator_user_id}`, { first_name: name, last_name: name });
      const { key } = await makeKey({ name, creator_user_id });
      for (const temperature of [0, 1]) await stack.create(slug, { model: "a", temperature, messages: [] }, { key });
      await stack.request("PATCH", `/presets/${slug}`, { key, body: { name, description: name.repeat(5) } });
      await makeWorkspace(slug);
      await call("PATCH", `/workspaces/${slug}`, { name, description: name.repeat(5) });
      const on = await signedIn({ width });
      for (const path of [
        "default/presets",
        `default/presets/${slug}`,
        `default/presets/${slug}/compare/1...2`,
        "default/keys",
        "default/team",
        `default/team/${slug}`,
        "default/activity",
        "default/activity?log=organization",
        `${slug}/presets`,
      ]) {
        await on.open(`/${path}`);
        await on.page.getByText(first).locator("visible=true").first().waitFor();
        const hidden = await on.page.getByText(first).evaluateAll(
          (texts, first) =>
            texts.flatMap((text) => {
              const content = [...text.childNodes].find((node) => node.textContent?.startsWith(first));
              const cutting = text.closest(".cut, .clamp, .target, .heading-name, .switcher bdi");
              if (!text.checkVisibility() || !content || !cutting) return [];
              const range = text.ownerDocument.createRange();
              range.setStart(content, 0);
              range.setEnd(content, first.length);
              const [word, box] = [range.getBoundingClientRect(), cutting.getBoundingClientRect()];
              const isSeen = word.left > box.left - 1 && word.right < box.right + 1;
              return isSeen ? [] : [cutting.outerHTML.slice(0, 150)];
            }),
          first,
        );
        expect(hidden, path).toEqual([]);
      }
      await on.context.close();
    },
  );

  it("opens the preset whose row is clicked, and covers nothing else, in browsers that position no rows", async () => {
    for (const name of ["first", "second", "third"])
      await underTest.stack.create(`row-${name}`, { model: "a", messages: [] });
    const on = await signedIn({});
    const { page } = on;
    await on.open("/default/presets?q=row-");
    const rows = page.locator("tbody tr.is-link");
    await rows.nth(2).waitFor();
    // This is what Safari does.
    await page.evaluate(`{
      const sheet = new CSSStyleSheet();
      sheet.replaceSync("tr { position: static !important; }");
      document.adoptedStyleSheets = [sheet];
    }`);
    await page.getByRole("searchbox").click();
    await page.getByRole("columnheader", { name: "Updated" }).click();
    const { width, height } = (await rows.nth(1).boundingBox()) ?? { width: 0, height: 0 };
    await rows.nth(1).click({ position: { x: width - 4, y: height / 2 } });
    await page.waitForURL(/presets\/row-second$/);
    expect(await on.faults()).toEqual([]);
  });

  it("has an editor that grows with its content, within bounds", async () => {
    const on = await signedIn({});
    const { page } = on;
    await on.open("/default/presets/~new");
    const editor = page.locator(".cm-content");
    await editor.waitFor();
    const height = async () => (await page.locator(".config-editor").boundingBox())?.height ?? 0;
    const short = await height();
    expect(short).toBeLessThan(220);
    const write = async (lines: number) => {
      await editor.focus();
      await page.keyboard.press("Control+a");
      await page.keyboard.insertText(`{${"\n".repeat(lines)}}`);
    };
    await write(12);
    await expect.poll(height).toBeGreaterThan(short);
    await write(100);
    await expect.poll(height).toBeGreaterThan(350);
    expect(await height()).toBeLessThan(450);
    expect(await on.faults()).toEqual([]);
  });

  it("marks the line that is not JSON, even if the browser does not say where it is", async () => {
    const on = await signedIn({});
    const { page } = on;
    // These are the words of Safari; Chromium's contain the position.
    await page.addInitScript(() => {
      const parse = JSON.parse;
      JSON.parse = (text, reviver) => {
        try {
          return parse(text, reviver);
        } catch {
          throw new SyntaxError("JSON Parse error: Property name must be a string literal");
        }
      };
    });
    await on.open("/default/presets/~new");
    await page.locator(".cm-content").focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText('{\n  "model": "a",\n  oops: 1\n}');
    const marked = page.locator(".cm-line", { has: page.locator("[class*=cm-lint]") });
    await marked.waitFor();
    expect(await marked.innerText()).toContain("oops");
  });

  it("keeps the actions of a long draft visible, and the focus above them", async () => {
    const on = await signedIn({});
    const { page } = on;
    await on.open("/default/presets/support-bot/edit?from=2");
    await page.locator(".cm-content").waitFor();
    const prompt = page.getByLabel("System prompt");
    await prompt.fill("A line of a prompt.\n".repeat(100));
    const next = await page.getByRole("button", { name: "Review the changes" }).boundingBox();
    expect((next?.y ?? 1e6) + (next?.height ?? 0)).toBeLessThanOrEqual(800);
    await page.locator(".cm-content").focus();
    const editor = await page.locator(".cm-content").boundingBox();
    expect(editor?.y).toBeLessThan(next?.y ?? 0);
    await prompt.press("Control+Enter");
    await page.getByRole("button", { name: "Save new version" }).waitFor();
    await page.goBack();
    await page.locator(".cm-content").press("Control+Enter");
    await page.getByRole("button", { name: "Save new version" }).waitFor();
  });

  it("shows the code sample chosen last first, for any preset", async () => {
    const on = await signedIn({});
    await underTest.stack.create("other-bot", { model: "a", messages: [] });
    await on.open("/default/presets/support-bot");
    await on.page.getByRole("button", { name: "openai", exact: true }).press("Enter");
    await on.open("/default/presets/other-bot");
    await on.page.getByText('import OpenAI from "openai";').waitFor();
    await on.page.getByText('model: "@preset/other-bot"').waitFor();
  });

  it("colours a preset's status only if it refuses requests", async () => {
    const { stack } = underTest;
    await stack.create("stopped-bot", { model: "a", messages: [] });
    await stack.request("PATCH", "/presets/stopped-bot", { key: stack.apiKey, body: { status: "disabled" } });
    const { page, open } = await signedIn({});
    await open("/default/presets");
    const backgroundOf = (status: string) =>
      page
        .locator(".column-status .badge", { hasText: status })
        .first()
        .evaluate((badge) => badge.ownerDocument.defaultView?.getComputedStyle(badge).backgroundColor);
    expect(await backgroundOf("Active")).toBe("rgba(0, 0, 0, 0)");
    expect(await backgroundOf("Disabled")).not.toBe("rgba(0, 0, 0, 0)");
  });

  it("explains each choice below it", async () => {
    const { page, open } = await signedIn({});
    await open("/default/presets/support-bot");
    await page.getByRole("button", { name: "Settings" }).click();
    const choice = page.locator(".choice", { hasText: "Disabled" });
    const box = await choice.getByText("Disabled", { exact: false }).first().boundingBox();
    const meaning = await choice.getByText("Requests that name it are refused.").boundingBox();
    const line = (box?.height ?? 0) / 2;
    expect(meaning?.y).toBeGreaterThan((box?.y ?? 0) + line / 2);
    expect(meaning?.x).toBe(box?.x);
    await open("/default/presets/~new");
    const dialect = page.locator(".choice", { hasText: "Messages" });
    const name = await dialect.getByText("Messages").first().boundingBox();
    const whose = await dialect.getByText("Anthropic.", { exact: true }).boundingBox();
    expect(whose?.y).toBeGreaterThan((name?.y ?? 0) + (name?.height ?? 0) / 4);
    expect(whose?.x).toBe(name?.x);
  });

  it("shows the served version on a phone as well, in rows of equal height", async () => {
    const { stack } = underTest;
    await stack.create("retired", { model: "a", messages: [{ role: "system", content: "Be gone." }] });
    const body = { status: "disabled" };
    expect((await stack.request("PATCH", "/presets/retired", { key: stack.apiKey, body })).status).toBe(200);
    await stack.request("PATCH", "/presets/support-bot", { key: stack.apiKey, body: { designated_version: 1 } });
    const row = (on: ConsolePage, name: string) => on.page.locator("tbody tr", { hasText: name });
    const phone = await signedIn({ width: 390 });
    await row(phone, "retired").getByText("Disabled").and(phone.page.locator(":visible")).waitFor();
    expect(await row(phone, "support-bot").innerText()).toContain("v1, newest is v2");
    const heights = await phone.page
      .locator("tbody tr")
      .evaluateAll((rows) => rows.map((each) => Math.round(each.getBoundingClientRect().height)));
    expect(new Set(heights).size).toBe(1);
    // If there is room for a column, it is shown only there.
    const tablet = await signedIn({ width: 720 });
    await tablet.page.getByRole("columnheader", { name: "Serves" }).waitFor();
    await row(tablet, "support-bot").waitFor();
    expect(
      await row(tablet, "support-bot").getByText("v1, newest is v2").and(tablet.page.locator(":visible")).count(),
    ).toBe(1);
    await stack.request("PATCH", "/presets/support-bot", { key: stack.apiKey, body: { designated_version: 2 } });
  });

  it("shows everything about a key in a few lines on a phone", async () => {
    const { page, open } = await signedIn({ width: 390 });
    await open("/default/keys");
    const cell = page.locator("tbody tr", { hasText: "Key 11" }).locator(".two-lines").first();
    await cell.waitFor();
    expect(await cell.innerText()).toMatch(/API key · presets:read, presets:write, inference · never used\n.+$/);
    const lines = await cell.evaluate((block) => {
      const style = block.ownerDocument.defaultView?.getComputedStyle(block);
      return block.getBoundingClientRect().height / Number.parseFloat(style?.lineHeight ?? "");
    });
    expect(Math.round(lines)).toBeLessThanOrEqual(5);
  });

  it("fits all permissions of a key and its creator's name on a wide screen", async () => {
    const { makeMember, makeKey, call } = administrator(underTest.stack);
    const creator_user_id = await makeMember("tomasz@example.com");
    const name = { first_name: "Tomasz", last_name: "Wojciechowski" };
    await call("PATCH", `/organization/members/${creator_user_id}`, name);
    await makeKey({ name: "Of a long name", creator_user_id });
    const { page, open } = await signedIn({ width: 1200 });
    await open("/default/keys");
    const row = page.locator(".keys-table tr", { hasText: "Of a long name" });
    await row.getByText("Tomasz Wojciechowski").last().waitFor();
    const cut = row
      .locator(".column-creator .cut, .two-lines .small.cut")
      .evaluateAll((texts) =>
        texts.filter((text) => text.scrollWidth > text.clientWidth).map((text) => text.innerText),
      );
    expect(await cut).toEqual([]);
  });

  it("shows as much of a workspace's name as fits in one line on a phone", async () => {
    const { slug } = await administrator(underTest.stack).makeWorkspace("marketing-team");
    for (const width of [390, 320]) {
      const { page, open } = await signedIn({ width, height: 844, isTouched: true });
      await open(`/${slug}/presets`);
      const name = page.locator(".switcher bdi").first();
      await name.waitFor();
      const isCut = await name.evaluate((text) => text.scrollWidth > text.clientWidth);
      expect(isCut, `${width}`).toBe(width === 320);
      const tops = await page
        .locator(".header .brand, .header .switcher, .header-end .button")
        .evaluateAll((parts) =>
          parts.map((part) => part.getBoundingClientRect()).map(({ y, height }) => y + height / 2),
        );
      expect(Math.max(...tops) - Math.min(...tops)).toBeLessThan(2);
    }
  });

  it("shows when each compared version was made, uncut by a long name", async () => {
    const { makeMember, makeKey, call } = administrator(underTest.stack);
    const creator_user_id = await makeMember("maximilian@example.com");
    const name = { first_name: "Maximilian-Alexander Johannes", last_name: "von Hohenstaufen-Württemberg" };
    await call("PATCH", `/organization/members/${creator_user_id}`, name);
    const { key } = await makeKey({ name: "Of a longer name", creator_user_id });
    for (const temperature of [0, 1])
      await underTest.stack.create("long-named", { model: "a", temperature, messages: [] }, { key });
    for (const width of [1920, 1200, 901, 390, 320]) {
      const { page, open, context } = await signedIn({ width });
      await open("/default/presets/long-named/compare/1...2");
      await page.locator(".diff").first().waitFor();
      const panel = await page.locator(".compared-versions").boundingBox();
      const cells = page.locator(".compared-version");
      for (const cell of await cells.all()) {
        const time = await cell.locator(".compared-by time").boundingBox();
        const who = await cell.locator(".compared-by").boundingBox();
        expect(who?.x, `${width}`).toBeGreaterThanOrEqual(panel?.x ?? Number.NaN);
        expect((time?.x ?? 0) + (time?.width ?? 0), `${width}`).toBeLessThanOrEqual(
          (who?.x ?? 0) + (who?.width ?? 0) + 1,
        );
        expect(await cell.evaluate((each) => each.scrollWidth - each.clientWidth), `${width}`).toBe(0);
      }
      await context.close();
    }
  });

  it("wraps unchanged lines at the same words on both sides of a comparison", async () => {
    const stayed = "word and more ".repeat(60);
    for (const end of ["Be brief.", "Be kind."])
      await underTest.stack.create("long-lined", {
        model: "a",
        messages: [{ role: "system", content: `${stayed}\n${end}` }],
      });
    const { page, open, context } = await signedIn({});
    await open("/default/presets/long-lined/compare/1...2");
    const texts = page.locator(".diff-row").first().locator(".diff-text");
    await texts.first().waitFor();
    for (let width = 1000; width < 1020; width++) {
      await page.setViewportSize({ width, height: 800 });
      const [left, right] = await texts.evaluateAll((each) => each.map((text) => text.getBoundingClientRect().width));
      expect(left, `${width}`).toBe(right);
    }
    await context.close();
  });

  it("uses a wide screen to put two prompts, or prompt and config, side by side", async () => {
    const { page, open } = await signedIn({ width: 1920, height: 900 });
    await open("/default/presets/support-bot/compare/1...2");
    await page.locator(".diff").first().waitFor();
    expect((await page.locator(".compared-versions").boundingBox())?.width).toBeGreaterThan(1_400);
    await open("/default/presets/support-bot/edit?from=2");
    await page.locator(".cm-content").waitFor();
    const prompt = await page.getByLabel("System prompt").boundingBox();
    const config = await page.locator(".config-editor").boundingBox();
    expect(config?.y).toBe(prompt?.y);
    expect(config?.x).toBeGreaterThan((prompt?.x ?? 0) + (prompt?.width ?? 0));
    // With all their actions visible.
    expect(await page.evaluate("document.documentElement.scrollHeight")).toBeLessThanOrEqual(900);
    await open("/default/presets/support-bot/try");
    const form = await page.locator("main form").boundingBox();
    const place = await page.getByText("The result is shown here.").boundingBox();
    expect(place?.y).toBe(form?.y);
  });

  it("aligns both versions of a comparison on a narrow phone", async () => {
    const { page, open } = await signedIn({ width: 320, height: 640, isTouched: true });
    await open("/default/presets/support-bot/compare/1...2");
    await page.locator(".diff").first().waitFor();
    const edges = await page
      .locator(".compared-version .label")
      .evaluateAll((labels) => labels.map((label) => label.getBoundingClientRect().x));
    expect(new Set(edges).size).toBe(1);
  });

  it("does not scroll if a screen is short", async () => {
    for (const width of [1280, 390]) {
      const { page, open } = await signedIn({ width });
      await open("/default/presets?q=nothing-is-called-that");
      await page.getByRole("heading", { name: "No preset matches" }).waitFor();
      expect(await page.evaluate("document.documentElement.scrollHeight - innerHeight"), `${width}`).toBe(0);
    }
  });

  it("aligns the heading of a list with its names", async () => {
    const { page, open } = await signedIn({ width: 390 });
    await open("/default/team");
    const heading = await page.getByRole("heading", { name: "Members" }).boundingBox();
    const name = await page.locator("tbody .row-name").first().boundingBox();
    expect(name?.x).toBe(heading?.x);
  });

  it("shows success in the copy button's icon without changing its width", async () => {
    const { page, open } = await signedIn({});
    await open("/default/presets/support-bot");
    const button = page.getByRole("button", { name: "Copy the prompt" });
    const before = await button.boundingBox();
    await button.click();
    await button.locator(".icon-done").waitFor();
    expect(await button.boundingBox()).toEqual(before);
    await page.getByRole("status").getByText("Copied the prompt.").waitFor();
    await button.locator(".icon-copy").waitFor();
  });

  it("shows the activity filters in one line", async () => {
    const { page, open } = await signedIn({});
    await open("/default/activity");
    await page.locator(".activity-entry a").first().waitFor();
    const middles = await page
      .locator(".toolbar :is(.chip, select)")
      .evaluateAll((controls) =>
        controls.map((control) => control.getBoundingClientRect()).map(({ top, bottom }) => Math.round(top + bottom)),
      );
    expect(middles.length).toBe(5);
    expect(new Set(middles).size).toBe(1);
  });

  it("shows the history beside a preset, and on a phone above its usage", async () => {
    const on = await signedIn({ width: 1280 });
    const { page } = on;
    const top = async (title: string) => (await page.getByRole("heading", { name: title }).boundingBox())?.y ?? 0;
    await on.open("/default/presets/support-bot");
    await page.getByText("Serves v2").waitFor();
    expect(await top("History")).toBe(await top("System prompt"));
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await top("History")).toBeGreaterThan(await top("Config"));
    expect(await top("Use it")).toBeGreaterThan(await top("History"));
  });

  it("keeps a version in sight that is chosen far down in the history, and stays there after a rollback", async () => {
    for (let version = 1; version <= 18; version++) {
      const messages = [{ role: "system", content: `${version}\n`.repeat(60) }];
      expect((await underTest.stack.create("long-lived", { model: "a", messages })).status).toBe(200);
    }
    const { page, open } = await signedIn({ width: 1280, height: 800 });
    await open("/default/presets/long-lived");
    await page.getByText("Serves v18").waitFor();
    await page.mouse.move(1100, 600);
    await page.mouse.wheel(0, 300);
    await page.getByRole("link", { name: "v2", exact: true }).click();
    await page.getByText("You are looking at v2.").waitFor();
    const prompt = await page.getByLabel("Text of the prompt").boundingBox();
    expect((prompt?.y ?? 0) + (prompt?.height ?? 0)).toBeGreaterThan(300);
    await page.evaluate("scrollTo(0, 400)");
    // With a mouse: before a click on its own, Playwright would scroll.
    const click = async (name: string) => {
      const { x = 0, y = 0 } = (await page.getByRole("button", { name }).boundingBox()) ?? {};
      await page.mouse.click(x + 10, y + 10);
    };
    await click("Roll back to v2");
    await page.getByText("Serves v2,").waitFor();
    await click("Undo");
    await page.getByText("Serves v18").waitFor();
    expect(await page.evaluate("scrollY")).toBe(400);
    const focus = (name: string) =>
      page.getByRole("button", { name }).evaluate((button) => button.focus({ preventScroll: true }));
    await focus("Settings");
    await click("Dismiss");
    expect(await page.evaluate("scrollY")).toBe(400);
    // The keyboard reaches the bar as well, without leaving what is read.
    await focus("Copy the prompt");
    await page.keyboard.press("Shift+Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Roll back to v2");
    expect(await page.evaluate("scrollY")).toBe(400);
  });

  it("never flashes in another colour scheme, however slowly the script loads", async () => {
    const on = await signedIn({ colorScheme: "light" });
    const { page } = on;
    await page.getByRole("button", { name: "Account" }).click();
    await page.getByRole("button", { name: "Dark" }).click();
    let letThrough = () => {};
    const held = new Promise<void>((resolve) => {
      letThrough = resolve;
    });
    await page.route("**/assets/index-*.js", async (route) => {
      await held;
      await route.continue();
    });
    await page.reload({ waitUntil: "commit" });
    const background = () => page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
    await expect.poll(background).toBe("rgb(15, 17, 21)");
    letThrough();
    await page.getByText("support-bot").first().waitFor();
    expect(await background()).toBe("rgb(15, 17, 21)");
  });

  it("distinguishes current, selected and disabled items in forced colours", async () => {
    const on = await signedIn({ hasForcedColors: true });
    const { page } = on;
    /** How something is drawn, as far as it may differ from its neighbours. */
    const drawn = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => {
          const { color, backgroundColor, borderBottomColor, outlineStyle } =
            element.ownerDocument.defaultView.getComputedStyle(element);
          return [color, backgroundColor, borderBottomColor, outlineStyle].join();
        });
    const differ = async (one: string, other: string) => expect(await drawn(one), one).not.toBe(await drawn(other));
    await page.getByText("support-bot").first().waitFor();
    // An outline around something without room for one would cross its text.
    expect(await drawn(".badge.is-quiet")).toMatch(/none$/);
    await differ(".nav a[aria-current]", ".nav a:not([aria-current])");
    await differ(".chip[aria-current]", ".chip:not([aria-current])");
    await page.keyboard.press("Control+k");
    await page.getByRole("option").first().waitFor();
    await differ("[role=option][aria-selected=true]", "[role=option][aria-selected=false]");
    await page.keyboard.press("Escape");
    await on.open("/default/presets/support-bot/try");
    await page.getByText("chat/completions").first().waitFor();
    await differ(".button[aria-disabled]", ".header .button");
    await on.open("/default/presets/support-bot?v=1");
    await page.getByRole("button", { name: "Roll back to v1" }).click();
    await page.getByRole("button", { name: "Undo" }).waitFor();
    expect(
      await page
        .locator(".toast")
        .evaluate((toast) => toast.ownerDocument.defaultView.getComputedStyle(toast).borderStyle),
    ).toBe("solid");
    expect(await on.faults()).toEqual([]);
  });

  it("prints a preset in dark ink with its whole prompt and no buttons", async () => {
    const prompt = "A line of a prompt.\n".repeat(100);
    await underTest.stack.create("printed", { model: "a", messages: [{ role: "system", content: prompt }] });
    const on = await signedIn({ colorScheme: "dark" });
    const { page } = on;
    await on.open("/default/presets/printed");
    const text = page.getByLabel("Text of the prompt");
    await text.waitFor();
    const isClipped = () => text.evaluate((block) => block.scrollHeight > block.clientHeight);
    expect(await isClipped()).toBe(true);
    await page.emulateMedia({ media: "print" });
    expect(await isClipped()).toBe(false);
    expect(await text.evaluate((block) => block.ownerDocument.defaultView.getComputedStyle(block).color)).toBe(
      "rgb(23, 27, 34)",
    );
    expect(await page.getByRole("button").and(page.locator(":visible")).count()).toBe(0);
  });

  it.each([
    ["in portrait", 718],
    ["in landscape", 1047],
  ])("prints times as dates, which stay true, %s", async (_, width) => {
    const on = await signedIn({ width });
    const { page } = on;
    const screens = ["presets", "presets/support-bot", "presets/support-bot/compare/1...2", "keys", "activity"];
    for (const path of screens) {
      await on.open(`/default/${path}`);
      await page.emulateMedia({ media: "screen" });
      const times = page.locator("time").and(page.locator(":visible"));
      await times.first().waitFor();
      for (const words of await times.allInnerTexts()) expect(words, path).not.toMatch(/\d{4}/);
      await page.emulateMedia({ media: "print" });
      for (const words of await times.allInnerTexts()) expect(words, path).toMatch(/^\w{3} \d{1,2}, \d{4}, \d\d:\d\d$/);
      expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBeLessThanOrEqual(width);
    }
    await on.context.close();
  });
});
